/** What people do to jobs: cancel, retry, play. Whether they may is asked before. */
import { type Call, userOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { badRequest, forbidden } from '../errors.ts';
import { playableStatuses, replaceableStatuses, retryableStatuses } from '../job_statuses.ts';
import { failureRetried } from '../merge_requests/failure_retried.ts';
import { cancelJob, playJob, retryJob } from '../pipelines/job_states.ts';
import { requireSeenRequest } from '../pipelines/seen_request.ts';
import { sealValue } from '../variables/queries.ts';
import { type FoundJob, loadAnyJob } from './find.ts';
import type { JobVariable } from './given_variables.ts';
import type { JobRow } from './rows.ts';

const reloaded = async (call: Call, { project_id }: JobRow, id: number): Promise<JobRow> =>
  await loadAnyJob(call.db, project_id, id);

/** The job, canceled; one that has ended stays as it is. */
export const cancel = async (call: Call, { job }: FoundJob): Promise<JobRow> => {
  await call.write(async (tx) => await cancelJob(tx, job.id));
  return await reloaded(call, job, job.id);
};

const runAgain = async (tx: Tx, { id, pipeline_id }: JobRow, userId: number) => {
  const made = await retryJob(tx, id, userId);
  if (made !== null) await failureRetried(tx, pipeline_id);
  return made;
};

/**
 * A new job in the place of one that has ended.
 * @throws Failure 403
 */
export const retry = async (call: Call, { job }: FoundJob): Promise<JobRow> => {
  const user = userOf(call);
  await requireSeenRequest(call, job.pipeline_id);
  const made = retryableStatuses.includes(job.status)
    ? await call.write(async (tx) => await runAgain(tx, job, user.id))
    : null;
  if (made === null) throw forbidden('Job is not retryable');
  return await reloaded(call, job, made.id);
};

/** Where a variable of a job comes from that was given with its start. */
const source = 'play';

const keepVariables = async (
  { db }: Tx,
  job_id: number,
  sealed: readonly { key: string; sealed_value: string }[],
): Promise<void> => {
  if (sealed.length === 0) return;
  await db
    .insertInto('job_variables')
    .values(sealed.map((one) => ({ job_id, ...one, source })))
    .onConflict((on) =>
      on
        .columns(['job_id', 'key'])
        .doUpdateSet((is) => ({ sealed_value: is.ref('excluded.sealed_value'), source })),
    )
    .execute();
};

/**
 * Starts a job that waits for it; in the place of a manual one that has ended, a new one.
 * @throws Failure 400, 403
 */
export const play = async (
  call: Call,
  { job }: FoundJob,
  variables: readonly JobVariable[],
): Promise<JobRow> => {
  const user = userOf(call);
  await requireSeenRequest(call, job.pipeline_id);
  const sealed = variables.map(({ key, value }) => ({ key, sealed_value: sealValue(call.platform, value) }));
  const isAgain = job.run_when === 'manual' && replaceableStatuses.includes(job.status);
  if (!isAgain && !playableStatuses.includes(job.status)) throw unplayable();
  const id = await call.write(async (tx) => {
    if (!isAgain) await keepVariables(tx, job.id, sealed);
    const started = isAgain ? await runAgain(tx, job, user.id) : await playJob(tx, job.id, user.id);
    if (started === null) throw unplayable();
    if (isAgain) await keepVariables(tx, started.id, sealed);
    return started.id;
  });
  return await reloaded(call, job, id);
};

const unplayable = () => badRequest('Unplayable Job');
