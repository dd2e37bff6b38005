/** Maps the status of a downstream pipeline to the status of its trigger job. Pure. */
import type { Trigger } from '../../ci_file/config_types.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';

type BridgeStatus = Extract<JobStatus, 'running' | 'manual' | 'success' | 'failed' | 'canceled' | 'skipped'>;

const statusesWhenDepending: Partial<Record<JobStatus, BridgeStatus>> = {
  success: 'success',
  failed: 'failed',
  skipped: 'failed',
  canceled: 'canceled',
};

const statusesWhenMirroring: Partial<Record<JobStatus, BridgeStatus>> = {
  ...statusesWhenDepending,
  skipped: 'skipped',
  manual: 'manual',
};

/** Returns the trigger job's status. Without a strategy the job succeeds once the pipeline is created. */
export const toBridgeStatus = (strategy: Trigger['strategy'], downstream: JobStatus): BridgeStatus => {
  if (strategy === null) return 'success';
  return (strategy === 'mirror' ? statusesWhenMirroring : statusesWhenDepending)[downstream] ?? 'running';
};
