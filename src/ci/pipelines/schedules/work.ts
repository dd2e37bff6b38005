import type { Tx } from '../../../platform/db/open.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { configMutexKey } from '../config/config_mutex.ts';
import type { Schedule } from './queries.ts';

/** Runs a schedule that may be due. */
export const scheduleWork = 'schedules.due';

/** Enqueues the next run of an active schedule. */
export const enqueueNextRun = async (
  tx: Tx,
  { id, project_id, active, next_run_at }: Pick<Schedule, 'id' | 'project_id' | 'active' | 'next_run_at'>,
): Promise<void> => {
  if (active === 0 || next_run_at === null) return;
  const options = {
    unique_key: `${scheduleWork}:${id}`,
    turn: configMutexKey(project_id),
    run_at: next_run_at,
  };
  await enqueue(tx, scheduleWork, { schedule_id: id }, options);
};
