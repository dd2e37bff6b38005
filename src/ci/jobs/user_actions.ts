/** User actions on jobs: cancel, retry, play. The caller has already authorized them. */
import { type Call, requireUser } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { badRequest, forbidden } from '../../platform/errors.ts';
import { playableStatuses, replaceableStatuses, retryableStatuses } from '../../core/job_statuses.ts';
import { finishBuildFailedTodos } from '../../review/merge_requests/finish_build_failed_todos.ts';
import { cancelJob, playJob, retryJob } from '../pipelines/processing/job_transitions.ts';
import { requireVisibleRequest } from '../pipelines/creation/require_visible_merge_request.ts';
import { sealValue } from '../variables/queries.ts';
import { type LoadedJob, loadAnyJob } from './find.ts';
import type { JobVariable } from './parse_job_variables.ts';
import type { JobRow } from './rows.ts';

const reloadJob = async (call: Call, { project_id }: JobRow, id: number): Promise<JobRow> =>
  await loadAnyJob(call.db, project_id, id);

/** Cancels a job and returns it. An ended job is returned unchanged. */
export const cancel = async (call: Call, { job }: LoadedJob): Promise<JobRow> => {
  await call.write(async (tx) => await cancelJob(tx, job.id));
  return await reloadJob(call, job, job.id);
};

const retryInPlace = async (tx: Tx, { id, pipeline_id }: JobRow, userId: number) => {
  const retried = await retryJob(tx, id, userId);
  if (retried !== null) await finishBuildFailedTodos(tx, pipeline_id);
  return retried;
};

/**
 * Retries an ended job and returns the new job.
 * @throws Failure 403
 */
export const retry = async (call: Call, { job }: LoadedJob): Promise<JobRow> => {
  const user = requireUser(call);
  await requireVisibleRequest(call, job.pipeline_id);
  const retried = retryableStatuses.includes(job.status)
    ? await call.write(async (tx) => await retryInPlace(tx, job, user.id))
    : null;
  if (retried === null) throw forbidden('Job is not retryable');
  return await reloadJob(call, job, retried.id);
};

/** The `source` of variables that a user enters when starting a job. */
const playSource = 'play';

const insertVariables = async (
  { db }: Tx,
  job_id: number,
  sealed: readonly { key: string; sealed_value: string }[],
): Promise<void> => {
  if (sealed.length === 0) return;
  await db
    .insertInto('job_variables')
    .values(sealed.map((one) => ({ job_id, ...one, source: playSource })))
    .onConflict((on) =>
      on
        .columns(['job_id', 'key'])
        .doUpdateSet((is) => ({ sealed_value: is.ref('excluded.sealed_value'), source: playSource })),
    )
    .execute();
};

/**
 * Starts a manual or delayed job. For a manual job that has ended, starts a new job instead.
 * @throws Failure 400, 403
 */
export const play = async (
  call: Call,
  { job }: LoadedJob,
  variables: readonly JobVariable[],
): Promise<JobRow> => {
  const user = requireUser(call);
  await requireVisibleRequest(call, job.pipeline_id);
  const sealed = variables.map(({ key, value }) => ({ key, sealed_value: sealValue(call.platform, value) }));
  const replacesJob = job.run_when === 'manual' && replaceableStatuses.includes(job.status);
  if (!replacesJob && !playableStatuses.includes(job.status)) throw unplayableJob();
  const id = await call.write(async (tx) => {
    if (!replacesJob) await insertVariables(tx, job.id, sealed);
    const started = replacesJob ? await retryInPlace(tx, job, user.id) : await playJob(tx, job.id, user.id);
    if (started === null) throw unplayableJob();
    if (replacesJob) await insertVariables(tx, started.id, sealed);
    return started.id;
  });
  return await reloadJob(call, job, id);
};

const unplayableJob = () => badRequest('Unplayable Job');
