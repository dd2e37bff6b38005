/** Operations on traces and artifacts. The caller of these functions has checked the permission. */
import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { forbidden } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { heldStatuses, isEnded } from '../../core/job_statuses.ts';
import { loadJob } from '../jobs/find.ts';
import { isAvailableArtifact } from '../jobs/artifact_availability.ts';
import type { JobRow } from '../jobs/rows.ts';
import { enqueueJobFileDeletion } from '../pipelines/enqueue_job_file_deletion.ts';
import { lockJob } from '../pipelines/pipeline_rows.ts';
import { notFoundFailure } from './failures.ts';

/** Deletes the job's artifact rows. Returns their digests. */
const deleteRows = async ({ db }: Tx, jobId: number): Promise<string[]> => {
  const rows = await db.deleteFrom('artifacts').where('job_id', '=', jobId).returning('sha256').execute();
  await db.deleteFrom('job_variables').where('job_id', '=', jobId).where('source', '=', 'dotenv').execute();
  return rows.map(({ sha256 }) => sha256);
};

/**
 * Removes a job's trace and artifacts. Changes nothing of a job that has not run: it has neither.
 * @throws Failure 403 for a job that a runner holds
 */
export const eraseJob = async (call: Call, { id, project_id, trace_key }: JobRow): Promise<JobRow> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const locked = await lockJob(tx, id);
    if (locked === null || heldStatuses.includes(locked.job.status)) throw forbidden('Job is not erasable!');
    // `erased_at` would hide the log of a later run.
    if (!isEnded(locked.job.status)) return;
    const digests = await deleteRows(tx, id);
    const none = { artifacts_expire_at: null, trace_size: null, trace_crc: null };
    await tx.db
      .updateTable('jobs')
      .set({ ...none, erased_at: tx.now, erased_by_id: actor.user.id, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await enqueueJobFileDeletion(tx, { project_id, traces: [{ id, trace_key }], digests });
    await recordEvent(tx, actor, { kind: 'job.erased', project_id, target_type: 'Job', target_id: id });
  });
  return await loadJob(call.db, project_id, id);
};

/**
 * Removes the expiry of a job's artifacts: they stay until somebody deletes them.
 * @throws Failure 404 without artifacts
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

/** Deletes a job's artifacts, and keeps its trace. */
export const deleteArtifacts = async (call: Call, { id, project_id }: JobRow): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const digests = await deleteRows(tx, id);
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
