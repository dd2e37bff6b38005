import type { Selectable } from 'kysely';
import type { RunnersTable } from '../../platform/db/schema/runners.ts';
import { bool, int, nullable, object, string } from '../../platform/http/schema.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/time.ts';

/** A runner as shown in jobs and lists. */
export const basicRunnerShape = object({
  id: int,
  description: nullable(string),
  active: bool,
  paused: bool,
  is_shared: bool,
  runner_type: string,
  name: nullable(string),
  online: bool,
  status: string,
});

export const basicRunnerColumns = [
  'id',
  'description',
  'active',
  'runner_type',
  'contacted_at',
  'created_at',
] as const;

export type BasicRunnerRow = Pick<Selectable<RunnersTable>, (typeof basicRunnerColumns)[number]>;

export const runnerStatuses = ['online', 'offline', 'stale', 'never_contacted'] as const;
export type RunnerStatus = (typeof runnerStatuses)[number];

/** A runner is offline after this many milliseconds without contact. */
const onlineWindow = 2 * hourMilliseconds;
const staleAfter = 7 * dayMilliseconds;

/** Returns the time limits of a runner's last contact: online since the first, stale before the second. */
export const statusTimes = (now: number) => ({ online: now - onlineWindow, stale: now - staleAfter });

type ContactTimes = Pick<BasicRunnerRow, 'contacted_at' | 'created_at'>;

export const getRunnerStatus = ({ contacted_at, created_at }: ContactTimes, now: number): RunnerStatus => {
  const times = statusTimes(now);
  if (created_at < times.stale && (contacted_at ?? 0) < times.stale) return 'stale';
  if (contacted_at === null) return 'never_contacted';
  return contacted_at >= times.online ? 'online' : 'offline';
};

export const basicRunner = (runner: BasicRunnerRow, now: number) => ({
  id: runner.id,
  description: runner.description,
  active: runner.active === 1,
  paused: runner.active === 0,
  is_shared: runner.runner_type === 'instance_type',
  runner_type: runner.runner_type,
  name: null,
  online: getRunnerStatus(runner, now) === 'online',
  status: getRunnerStatus(runner, now),
});
