/** What people do to what jobs left behind. Whether they may is asked before. */
import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { forbidden } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { endedStatuses } from '../job_statuses.ts';
import { loadJob } from '../jobs/find.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import type { JobRow } from '../jobs/rows.ts';
import { dropLater } from '../pipelines/drop_files.ts';
import { lockJob } from '../pipelines/store.ts';
import { nothingThere } from './failures.ts';

/** Answers the digests of what went. */
const deleteRows = async ({ db }: Tx, jobId: number): Promise<string[]> => {
  const rows = await db.deleteFrom('artifacts').where('job_id', '=', jobId).returning('sha256').execute();
  await db.deleteFrom('job_variables').where('job_id', '=', jobId).where('source', '=', 'dotenv').execute();
  return rows.map(({ sha256 }) => sha256);
};

/**
 * Removes a job's trace and artifacts.
 * @throws Failure 403 for a job that has not ended
 */
export const eraseJob = async (call: Call, { id, project_id }: JobRow): Promise<JobRow> => {
  const actor = actorOf(call);
  await call.write(async (tx) => {
    const locked = await lockJob(tx, id);
    if (locked === null || !endedStatuses.includes(locked.job.status))
      throw forbidden('Job is not erasable!');
    const digests = await deleteRows(tx, id);
    const none = { artifacts_expire_at: null, trace_size: null, trace_crc: null };
    await tx.db
      .updateTable('jobs')
      .set({ ...none, erased_at: tx.now, erased_by_id: actor.user.id, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await dropLater(tx, { project_id, jobs: [id], digests });
    await recordEvent(tx, actor, { kind: 'job.erased', project_id, target_type: 'Job', target_id: id });
  });
  return await loadJob(call.db, project_id, id);
};

/**
 * What a job left stays until somebody removes it.
 * @throws Failure 404 where there is nothing left
 */
export const keepArtifacts = async (call: Call, { id, project_id }: JobRow): Promise<JobRow> => {
  const actor = actorOf(call);
  await call.write(async (tx) => {
    const kept = await tx.db
      .updateTable('artifacts')
      .set({ expire_at: null })
      .where('job_id', '=', id)
      .where(isKept(tx.now))
      .returning('id')
      .execute();
    if (kept.length === 0) throw nothingThere();
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

/** Removes what a job left, but for its trace. */
export const deleteArtifacts = async (call: Call, { id, project_id }: JobRow): Promise<void> => {
  const actor = actorOf(call);
  await call.write(async (tx) => {
    const digests = await deleteRows(tx, id);
    if (digests.length === 0) return;
    await tx.db
      .updateTable('jobs')
      .set({ artifacts_expire_at: null, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await dropLater(tx, { project_id, jobs: [], digests });
    await recordEvent(tx, actor, {
      kind: 'job.artifacts_deleted',
      project_id,
      target_type: 'Job',
      target_id: id,
    });
  });
};
