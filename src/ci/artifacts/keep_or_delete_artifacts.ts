/** Keeps or deletes the artifacts of a job. Callers must have checked the permission. */
import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { loadJob } from '../jobs/find.ts';
import { isAvailableArtifact } from '../jobs/artifact_availability.ts';
import type { JobRow } from '../jobs/rows.ts';
import { enqueueJobFileDeletion } from '../pipelines/enqueue_job_file_deletion.ts';
import { notFoundFailure } from './failures.ts';

/** Deletes a job's artifact rows and dotenv variables. Returns the artifacts' digests. */
export const deleteArtifactRows = async ({ db }: Tx, jobId: number): Promise<string[]> => {
  const rows = await db.deleteFrom('artifacts').where('job_id', '=', jobId).returning('sha256').execute();
  await db.deleteFrom('job_variables').where('job_id', '=', jobId).where('source', '=', 'dotenv').execute();
  return rows.map(({ sha256 }) => sha256);
};

/**
 * Removes the expiry of a job's artifacts: they stay until somebody deletes them.
 * @throws Failure 404 if the job has no artifacts
 */
export const keepArtifacts = async (call: Call, { id, project_id }: JobRow): Promise<JobRow> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const kept = await tx.db
      .updateTable('artifacts')
      .set({ expire_at: null })
      .where('job_id', '=', id)
      .where(isAvailableArtifact(tx.now))
      .returning('id')
      .execute();
    if (kept.length === 0) throw notFoundFailure();
    await tx.db
      .updateTable('jobs')
      .set({ artifacts_expire_at: null, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await recordEvent(tx, actor, {
      kind: 'job.artifacts_kept',
      project_id,
      target_type: 'Job',
      target_id: id,
    });
  });
  return await loadJob(call.db, project_id, id);
};

/** Deletes a job's artifacts, but keeps its trace. */
export const deleteArtifacts = async (call: Call, { id, project_id }: JobRow): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const digests = await deleteArtifactRows(tx, id);
    if (digests.length === 0) return;
    await tx.db
      .updateTable('jobs')
      .set({ artifacts_expire_at: null, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await enqueueJobFileDeletion(tx, { project_id, traces: [], digests });
    await recordEvent(tx, actor, {
      kind: 'job.artifacts_deleted',
      project_id,
      target_type: 'Job',
      target_id: id,
    });
  });
};
