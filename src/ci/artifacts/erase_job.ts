import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { heldStatuses, isEnded } from '../../core/job_statuses.ts';
import { forbidden } from '../../platform/errors.ts';
import { loadJob } from '../jobs/find.ts';
import type { JobRow } from '../jobs/rows.ts';
import { enqueueJobFileDeletion } from '../pipelines/enqueue_job_file_deletion.ts';
import { lockJob } from '../pipelines/pipeline_rows.ts';
import { deleteArtifactRows } from './keep_or_delete_artifacts.ts';

/**
 * Removes a job's trace and artifacts, after the caller has checked the permission. Does nothing for a job that has not run, since it has neither.
 * @throws Failure 403 for a job that a runner holds
 */
export const eraseJob = async (call: Call, { id, project_id, trace_key }: JobRow): Promise<JobRow> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const locked = await lockJob(tx, id);
    if (locked === null || heldStatuses.includes(locked.job.status)) throw forbidden('Job is not erasable!');
    // If this job runs later, `erased_at` would hide its log.
    if (!isEnded(locked.job.status)) return;
    const digests = await deleteArtifactRows(tx, id);
    const cleared = { artifacts_expire_at: null, trace_size: null, trace_crc: null };
    await tx.db
      .updateTable('jobs')
      .set({ ...cleared, erased_at: tx.now, erased_by_id: actor.user.id, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await enqueueJobFileDeletion(tx, { project_id, traces: [{ id, trace_key }], digests });
    await recordEvent(tx, actor, { kind: 'job.erased', project_id, target_type: 'Job', target_id: id });
  });
  return await loadJob(call.db, project_id, id);
};
