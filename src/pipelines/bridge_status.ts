/** What a job is whose pipeline, which it has started, is so. Pure. */
import type { Trigger } from '../ci_file/plan_types.ts';
import type { JobStatus } from '../db/schema_ci.ts';

type Goal = Extract<JobStatus, 'running' | 'manual' | 'success' | 'failed' | 'canceled' | 'skipped'>;

const depended: Partial<Record<JobStatus, Goal>> = {
  success: 'success',
  failed: 'failed',
  skipped: 'failed',
  canceled: 'canceled',
};

const mirrored: Partial<Record<JobStatus, Goal>> = { ...depended, skipped: 'skipped', manual: 'manual' };

/** Who follows nothing has done what it is for. */
export const bridgeStatus = (strategy: Trigger['strategy'], downstream: JobStatus): Goal => {
  if (strategy === null) return 'success';
  return (strategy === 'mirror' ? mirrored : depended)[downstream] ?? 'running';
};
