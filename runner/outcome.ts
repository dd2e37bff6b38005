/** How a job ended, in the words of its coordinator, its script and its log. */
import type { Ended, Why } from './executors/run.ts';
import type { FailureReason, Outcome } from './protocol.ts';
import type { Stops } from './stops.ts';
import type { Trace } from './trace.ts';

export type Result = {
  outcome: Outcome;
  /** What the last line of the log says of it; null: it is no fault. */
  fault: string | null;
};

export const success: Result = { outcome: { state: 'success' }, fault: null };

export const failed = (failure_reason: FailureReason, exit_code?: number): Outcome => ({
  state: 'failed',
  failure_reason,
  ...(exit_code !== undefined && { exit_code }),
});

/** As `1h0m30s`. */
const durationText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : '', `${seconds % 60}s`];
  return parts.join('');
};

export type Allowed = {
  /** Seconds that a job may take, and be silent. */
  timeout: number;
  idle: number;
  /** Bytes of its files; null: as many as the disk takes. */
  disk: number | null;
};

const stopped = (why: Why, { timeout, idle, disk }: Allowed): Result => {
  if (why === 'cancel' || why === 'abort')
    return { outcome: failed('job_canceled'), fault: 'ERROR: Job failed: canceled' };
  if (why === 'disk') {
    const megabytes = Math.floor((disk ?? 0) / 2 ** 20);
    const fault = `ERROR: Job failed: its files take more than ${megabytes} MB of the disk`;
    return { outcome: failed('script_failure'), fault };
  }
  const text =
    why === 'idle'
      ? `nothing was printed for ${durationText(idle)}`
      : `execution took longer than ${durationText(timeout)} seconds`;
  return { outcome: failed('job_execution_timeout'), fault: `ERROR: Job failed: ${text}` };
};

/** What a signal is to a shell. */
const signalNumbers: Record<string, number> = { SIGKILL: 137, SIGTERM: 143, SIGSEGV: 139, SIGXFSZ: 153 };

export const statusOf = ({ code, signal }: Ended): number => code ?? signalNumbers[signal ?? ''] ?? 1;

/** What a script's end makes of its job. */
export const resultOf = (why: Why | null, ended: Ended, allowed: Allowed): Result => {
  if (why !== null) return stopped(why, allowed);
  const status = statusOf(ended);
  if (status === 0) return success;
  return { outcome: failed('script_failure', status), fault: `ERROR: Job failed: exit code ${status}` };
};

/** Of `CI_JOB_STATUS`. */
export const statusWord = ({ outcome }: Result): string => {
  if (outcome.state === 'success') return 'success';
  return outcome.failure_reason === 'job_canceled' ? 'canceled' : 'failed';
};

/** What went wrong is ours to answer for, unless it was to end. */
export const systemFailure = (stops: Stops, error: unknown, allowed: Allowed): Result => {
  const why = stops.why();
  if (why !== null) return stopped(why, allowed);
  const fault = `ERROR: Job failed (system failure): ${(error as Error).message}`;
  return { outcome: failed('runner_system_failure'), fault };
};

/** The last line of all, as those who read logs look for it there. */
export const lastWord = (trace: Trace, { fault }: Result): void => {
  if (fault === null) trace.say('Job succeeded', 'green');
  else trace.say(fault, 'red');
};
