/** What jobs left behind, and what they printed. */
import { type Call, endpoint } from '../access/call.ts';
import type { Answer } from '../http/endpoint.ts';
import { id as idParam, object, optional, raw, text } from '../http/schema.ts';
import { findJob, findJobToChange } from '../jobs/find.ts';
import { jobJson, keptJobShape } from '../jobs/json.ts';
import type { JobRow } from '../jobs/rows.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { deleteArtifacts, eraseJob, keepArtifacts } from './change.ts';
import { expireProjectLater } from './expiry.ts';
import { archiveOfJob, archiveOfRef } from './find.ts';

const area = 'jobs';
const project = { id: projectParam };
const one = { ...project, job_id: idParam() };
const ofRef = {
  ...project,
  ref_name: text({ maxLength: 1_000, description: 'branch or tag' }),
  job: text({ description: 'name of the job' }),
};
const artifact_path = raw('path within the archive');

const download = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: 'The archive that a job left',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(one),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id }) => {
    const artifact = await archiveOfJob(call, id, job_id);
    return await (await import('./serve.ts')).archiveAnswer(call, artifact);
  },
});

const downloadOfRef = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/download',
  summary: 'The archive of the newest successful job of this name on a branch or tag',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(ofRef),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ref_name, job }) => {
    const artifact = await archiveOfRef(call, id, ref_name, job);
    return await (await import('./serve.ts')).archiveAnswer(call, artifact);
  },
});

const fileOfRef = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path',
  summary: 'One file of the archive of the newest successful job of this name on a branch or tag',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object({ ...ofRef, artifact_path }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ref_name, job, artifact_path: sent }) => {
    const artifact = await archiveOfRef(call, id, ref_name, job);
    const { browse, readPath } = await import('./browse.ts');
    return await browse(call, artifact, readPath(sent));
  },
});

const fileOf = async (call: Call, id: number | string, jobId: number, sent: unknown): Promise<Answer> => {
  await findJob(call, id, jobId);
  const { browse, readPath } = await import('./browse.ts');
  const path = readPath(sent);
  return await browse(call, await archiveOfJob(call, id, jobId), path);
};

const file = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts/:artifact_path',
  summary: 'One file of the archive that a job left',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object({ ...one, artifact_path }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id, artifact_path: sent }) => await fileOf(call, id, job_id, sent),
});

/** The word is an action, too: to ask for it is to ask for a file. */
const fileKeep = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts/keep',
  summary: 'The file of that name of the archive that a job left',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(one),
  reply: null,
  content: '*/*',
  handle: async (call, { id, job_id }) => await fileOf(call, id, job_id, 'keep'),
});

const trace = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/trace',
  summary: 'What a job printed',
  area,
  audience: 'user',
  params: object(one),
  reply: null,
  content: 'text/plain',
  handle: async (call, { id, job_id }) => {
    const { job } = await findJob(call, id, job_id);
    return await (await import('./trace_answer.ts')).traceAnswer(call, job);
  },
});

const action = (path: string, summary: string, act: (call: Call, job: JobRow) => Promise<JobRow>) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/jobs/:job_id/${path}`,
    summary,
    area,
    audience: 'user',
    params: object(one),
    reply: keptJobShape,
    handle: async (call, { id, job_id }) => {
      const { code, job } = await findJobToChange(call, id, job_id);
      return { ...(await jobJson(call, code, await act(call, job))), download_url: null };
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: 'Remove what a job left, but for its trace (masters)',
  area,
  audience: 'user',
  params: object(one),
  reply: null,
  handle: async (call, { id, job_id }) => {
    const { job } = await findJob(call, id, job_id, 'destroy_artifact');
    await deleteArtifacts(call, job);
  },
});

const removeAll = endpoint({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  summary: 'Remove what the jobs of a project left, but for what it keeps of its newest pipelines (masters)',
  area,
  audience: 'user',
  status: 202,
  params: object(project),
  reply: object({ message: text() }),
  handle: async (call, { id }) => {
    const { id: project_id } = await findProjectFor(call, id, 'destroy_artifact');
    await call.write(async (tx) => await expireProjectLater(tx, { project_id, before: tx.now, after: 0 }));
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
  action('erase', 'Remove the trace and the artifacts of a job (developers)', eraseJob),
  action('artifacts/keep', 'Keep what a job left beyond its time (developers)', keepArtifacts),
  remove,
  removeAll,
];

const follow = endpoint({
  method: 'GET',
  path: '/-/jobs/:id/trace/stream',
  summary: 'What a job prints, as server-sent events',
  area,
  audience: 'user',
  params: object({
    id: idParam(),
    offset: optional(text({ description: 'byte from which on; the header `Last-Event-ID` says the same' })),
  }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, offset }) => {
    const job = await (await import('./find_any_job.ts')).findAnyJob(call, id);
    return (await import('./live.ts')).followTrace(call, job, offset);
  },
});

export const artifactDoors = [follow];
