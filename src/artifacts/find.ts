/** Whose artifacts are asked for. */
import type { Call } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { findJob } from '../jobs/find.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import { findProjectFor } from '../projects/find.ts';
import { requireArtifactAccess } from './artifact_access.ts';
import { nothingThere } from './failures.ts';
import { type Artifact, findArtifact } from './store.ts';

type Id = number | string;

/** @throws Failure 404, 403 as for the job; 404 without artifacts */
export const archiveOfJob = async (call: Call, id: Id, jobId: number): Promise<Artifact> => {
  const { job, code } = await findJob(call, id, jobId);
  await requireArtifactAccess(call, code.project, job.id);
  const artifact = await findArtifact(call.db, job.id, { now: call.now });
  if (artifact === null) throw nothingThere();
  return artifact;
};

/**
 * Of the newest pipeline of a branch or tag whose job of this name succeeded and left something.
 * @throws Failure 404
 */
export const archiveOfRef = async (call: Call, id: Id, ref: string, name: string): Promise<Artifact> => {
  const project = await findProjectFor(call, id, 'read_job');
  const found = await call.db
    .selectFrom('pipelines')
    .innerJoin('jobs', 'jobs.pipeline_id', 'pipelines.id')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .selectAll('artifacts')
    .where('pipelines.project_id', '=', project.id)
    .where('pipelines.ref', '=', ref)
    .where('jobs.name', '=', name)
    .where('jobs.retried', '=', 0)
    .where('jobs.status', '=', 'success')
    .where('artifacts.file_type', '=', 'archive')
    .where(isKept(call.now))
    .orderBy('pipelines.id', 'desc')
    .orderBy('jobs.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) throw notFound();
  await requireArtifactAccess(call, project, found.job_id);
  return found;
};
