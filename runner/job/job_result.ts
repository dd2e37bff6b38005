/** Translates the end of a job for the coordinator, its scripts and its log. */
import type { Ended, StopReason } from '../executors/run_process.ts';
import type { FailureReason, Outcome } from '../coordinator/protocol.ts';
import type { StopSignals } from './stop_signals.ts';
import type { JobLog } from '../log/job_log.ts';

export type Result = {
  outcome: Outcome;
  /** Text for the last line of the log; null: no error. */
  fault: string | null;
};

export const success: Result = { outcome: { state: 'success' }, fault: null };

export const failed = (failure_reason: FailureReason, exit_code?: number): Outcome => ({
  state: 'failed',
  failure_reason,
  ...(exit_code !== undefined && { exit_code }),
});

/** Formats seconds as `1h0m30s`. */
const formatSeconds = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : '', `${seconds % 60}s`];
  return parts.join('');
};

export type JobLimits = {
  /** Maximum seconds of a job, and of silence. */
  timeout: number;
  idle: number;
  /** Maximum bytes of its files; null: unlimited. */
  disk: number | null;
};

const stopped = (why: StopReason, { timeout, idle, disk }: JobLimits): Result => {
  if (why === 'cancel' || why === 'abort')
    return { outcome: failed('job_canceled'), fault: 'ERROR: Job failed: canceled' };
  if (why === 'disk') {
    const megabytes = Math.floor((disk ?? 0) / 2 ** 20);
    const fault = `ERROR: Job failed: its files take more than ${megabytes} MB of the disk`;
    return { outcome: failed('script_failure'), fault };
  }
  const text =
    why === 'idle'
      ? `nothing was printed for ${formatSeconds(idle)}`
      : `execution took longer than ${formatSeconds(timeout)} seconds`;
  return { outcome: failed('job_execution_timeout'), fault: `ERROR: Job failed: ${text}` };
};

/** Converts an end to a shell's exit status. */
const signalNumbers: Record<string, number> = { SIGKILL: 137, SIGTERM: 143, SIGSEGV: 139, SIGXFSZ: 153 };

export const getExitStatus = ({ code, signal }: Ended): number => code ?? signalNumbers[signal ?? ''] ?? 1;

/** Converts the end of a script to the job's result. */
export const toResult = (why: StopReason | null, ended: Ended, limits: JobLimits): Result => {
  if (why !== null) return stopped(why, limits);
  const status = getExitStatus(ended);
  if (status === 0) return success;
  return { outcome: failed('script_failure', status), fault: `ERROR: Job failed: exit code ${status}` };
};

/** Value of `CI_JOB_STATUS`. */
export const toStatusWord = ({ outcome }: Result): string => {
  if (outcome.state === 'success') return 'success';
  return outcome.failure_reason === 'job_canceled' ? 'canceled' : 'failed';
};

/** A failure of the runner itself, unless the job was to stop anyway. */
export const toSystemFailure = (stopSignals: StopSignals, error: unknown, limits: JobLimits): Result => {
  const why = stopSignals.getReason();
  if (why !== null) return stopped(why, limits);
  const fault = `ERROR: Job failed (system failure): ${(error as Error).message}`;
  return { outcome: failed('runner_system_failure'), fault };
};

/** The last line of a log, in the format that log readers expect. */
export const writeLastLine = (trace: JobLog, { fault }: Result): void => {
  if (fault === null) trace.say('Job succeeded', 'green');
  else trace.say(fault, 'red');
};
