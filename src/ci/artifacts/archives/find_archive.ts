/** Finds the archive that a request names. */
import type { Call } from '../../../core/access/call.ts';
import { notFound } from '../../../platform/errors.ts';
import { findJob } from '../../jobs/find.ts';
import { isAvailableArtifact } from '../../jobs/artifact_availability.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { requireArtifactAccess } from '../artifact_access.ts';
import { notFoundFailure } from '../failures.ts';
import { type Artifact, findArtifact } from '../store/artifacts.ts';

type Id = number | string;

/** @throws Failure 404, 403 as for the job; 404 without artifacts */
export const findArchiveOfJob = async (call: Call, id: Id, jobId: number): Promise<Artifact> => {
  const { job, code } = await findJob(call, id, jobId);
  await requireArtifactAccess(call, code.project, job.id);
  const artifact = await findArtifact(call.db, job.id, { now: call.now });
  if (artifact === null) throw notFoundFailure();
  return artifact;
};

/**
 * Finds the archive in the newest pipeline of a branch or tag in which a job of this name succeeded and uploaded one.
 * @throws Failure 404
 */
export const findArchiveOfRef = async (call: Call, id: Id, ref: string, name: string): Promise<Artifact> => {
  const project = await findProjectFor(call, id, 'read_job');
  const row = await call.db
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
    .where(isAvailableArtifact(call.now))
    .orderBy('pipelines.id', 'desc')
    .orderBy('jobs.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  await requireArtifactAccess(call, project, row.job_id);
  return row;
};
