/** How a job ended, in the words of its coordinator, its script and its log. */
import type { Ended, Why } from './executors/run.ts';
import type { Outcome } from './protocol.ts';
import type { Stops } from './stops.ts';
import type { Trace } from './trace.ts';

export const failed = (
  failure_reason: (Outcome & { state: 'failed' })['failure_reason'],
  exit_code?: number,
): Outcome => ({
  state: 'failed',
  failure_reason,
  ...(exit_code !== undefined && { exit_code }),
});

const stopped = (why: Why): Outcome =>
  failed(why === 'cancel' || why === 'abort' ? 'job_canceled' : 'job_execution_timeout');

/** What a signal is to a shell. */
const signalNumbers: Record<string, number> = { SIGKILL: 137, SIGTERM: 143, SIGSEGV: 139, SIGXFSZ: 153 };

/** What a script's end makes of its job. */
export const outcomeOf = (trace: Trace, why: Why | null, { code, signal }: Ended): Outcome => {
  if (why !== null) return stopped(why);
  const status = code ?? signalNumbers[signal ?? ''] ?? 1;
  if (status === 0) return { state: 'success' };
  trace.say(`ERROR: Job failed: exit code ${status}`, 'red');
  return failed('script_failure', status);
};

/** Of `CI_JOB_STATUS`. */
export const statusWord = (outcome: Outcome): string => {
  if (outcome.state === 'success') return 'success';
  return outcome.failure_reason === 'job_canceled' ? 'canceled' : 'failed';
};

/** What went wrong is ours to answer for, unless it was to end. */
export const systemFailure = (trace: Trace, stops: Stops, error: unknown): Outcome => {
  const why = stops.why();
  if (why !== null) return stopped(why);
  trace.say(`ERROR: Job failed (system failure): ${(error as Error).message}`, 'red');
  return failed('runner_system_failure');
};

export const lastWord = (trace: Trace, outcome: Outcome): void => {
  if (outcome.state === 'success') return trace.say('Job succeeded', 'green');
  if (outcome.failure_reason === 'job_canceled') trace.say('ERROR: Job failed: canceled', 'red');
  if (outcome.failure_reason === 'job_execution_timeout')
    trace.say('ERROR: Job failed: execution took longer than it may', 'red');
};
