import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';
import { configTurn } from './config_turn.ts';
import type { Schedule } from './schedule_queries.ts';

/** A schedule that may be due. */
export const scheduleWork = 'schedules.due';

/** Has it looked at when it is due. */
export const comeBack = async (
  tx: Tx,
  { id, project_id, active, next_run_at }: Pick<Schedule, 'id' | 'project_id' | 'active' | 'next_run_at'>,
): Promise<void> => {
  if (active === 0 || next_run_at === null) return;
  const options = {
    unique_key: `${scheduleWork}:${id}`,
    turn: configTurn(project_id),
    run_at: next_run_at,
  };
  await enqueue(tx, scheduleWork, { schedule_id: id }, options);
};
