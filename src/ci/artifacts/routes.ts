/** Endpoints of artifacts and traces. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Answer } from '../../platform/http/endpoint.ts';
import { id as idParam, object, optional, raw, text } from '../../platform/http/schema.ts';
import { findJob, findJobToChange } from '../jobs/find.ts';
import { jobJson, jobArtifactsShape } from '../jobs/json.ts';
import type { JobRow } from '../jobs/rows.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { projectParam } from '../../code/repository/find_code.ts';
import { eraseJob } from './erase_job.ts';
import { deleteArtifacts, keepArtifacts } from './keep_or_delete_artifacts.ts';
import { enqueueProjectExpiry } from './store/expire_artifacts.ts';
import { findArchiveOfJob, findArchiveOfRef } from './archives/find_archive.ts';

const area = 'jobs';
const project = { id: projectParam };
const jobParams = { ...project, job_id: idParam() };
const ofRef = {
  ...project,
  ref_name: text({ maxLength: 1_000, description: 'branch or tag' }),
  job: text({ description: 'name of the job' }),
};
const artifact_path = raw('path within the archive');

const download = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: "Download a job's artifacts archive",
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(jobParams),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id }) => {
    const artifact = await findArchiveOfJob(call, id, job_id);
    return await (await import('./archives/serve_file.ts')).serveArchive(call, artifact);
  },
});

const downloadOfRef = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/download',
  summary: 'Download the artifacts archive of the latest successful job by branch or tag',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(ofRef),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ref_name, job }) => {
    const artifact = await findArchiveOfRef(call, id, ref_name, job);
    return await (await import('./archives/serve_file.ts')).serveArchive(call, artifact);
  },
});

const fileOfRef = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path',
  summary: 'Download one artifact file of the latest successful job by branch or tag',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object({ ...ofRef, artifact_path }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ref_name, job, artifact_path: sent }) => {
    const artifact = await findArchiveOfRef(call, id, ref_name, job);
    const { serveArchiveFile: browse, readPath } = await import('./archives/serve_archive_file.ts');
    return await browse(call, artifact, readPath(sent));
  },
});

const toFile = async (call: Call, id: number | string, jobId: number, sent: unknown): Promise<Answer> => {
  await findJob(call, id, jobId);
  const { serveArchiveFile: browse, readPath } = await import('./archives/serve_archive_file.ts');
  const path = readPath(sent);
  return await browse(call, await findArchiveOfJob(call, id, jobId), path);
};

const file = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts/:artifact_path',
  summary: "Download one file of a job's artifacts archive",
  area,
  audience: 'optional',
  jobTokens: true,
  params: object({ ...jobParams, artifact_path }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id, artifact_path: sent }) => await toFile(call, id, job_id, sent),
});

/** The word `keep` is also a file name: a GET asks for that file. */
const fileKeep = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts/keep',
  summary: "Download the file of a job's artifacts archive that is called `keep`",
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(jobParams),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id }) => await toFile(call, id, job_id, 'keep'),
});

const trace = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/trace',
  summary: "Get a job's trace",
  area,
  audience: 'user',
  params: object(jobParams),
  reply: null,
  content: 'text/plain',
  handle: async (call, { id, job_id }) => {
    const { job } = await findJob(call, id, job_id);
    return await (await import('./traces/serve_trace.ts')).serveTrace(call, job);
  },
});

const action = (path: string, summary: string, act: (call: Call, job: JobRow) => Promise<JobRow>) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/jobs/:job_id/${path}`,
    summary,
    area,
    audience: 'user',
    params: object(jobParams),
    reply: jobArtifactsShape,
    handle: async (call, { id, job_id }) => {
      const { code, job } = await findJobToChange(call, id, job_id);
      return { ...(await jobJson(call, code, await act(call, job))), download_url: null };
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: "Delete a job's artifacts, but not its trace (maintainers)",
  area,
  audience: 'user',
  params: object(jobParams),
  reply: null,
  handle: async (call, { id, job_id }) => {
    const { job } = await findJob(call, id, job_id, 'destroy_artifact');
    await deleteArtifacts(call, job);
  },
});

const removeAll = endpoint({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  summary: "Delete a project's artifacts except the kept artifacts of its newest pipelines (maintainers)",
  area,
  audience: 'user',
  status: 202,
  params: object(project),
  reply: object({ message: text() }),
  handle: async (call, { id }) => {
    const { id: project_id } = await findProjectFor(call, id, 'destroy_artifact');
    await call.write(async (tx) => {
      await enqueueProjectExpiry(tx, { project_id, before: tx.now, after: 0 });
      await recordEvent(tx, requireActor(call), {
        kind: 'project.artifacts_deleted',
        project_id,
        target_type: 'Project',
        target_id: project_id,
      });
    });
    return { message: '202 Accepted' };
  },
});

export const artifactRoutes = [
  download,
  downloadOfRef,
  fileOfRef,
  fileKeep,
  file,
  trace,
  action('erase', 'Erase the trace and the artifacts of a job (developers)', eraseJob),
  action('artifacts/keep', "Keep a job's artifacts from expiring (developers)", keepArtifacts),
  remove,
  removeAll,
];

const follow = endpoint({
  method: 'GET',
  path: '/-/jobs/:id/trace/stream',
  summary: "Follow a job's trace as server-sent events",
  area,
  audience: 'user',
  params: object({
    id: idParam(),
    offset: optional(text({ description: 'byte at which to start; else the header `Last-Event-ID`' })),
  }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, offset }) => {
    const job = await (await import('./archives/find_job_by_id.ts')).findJobById(call, id);
    return (await import('./traces/follow_trace.ts')).followTrace(call, job, offset);
  },
});

export const traceStreamRoutes = [follow];
