/** The signals that stop a job early (timeout, cancellation, silence), and the reason. */
import type { StopReason } from '../executors/run_process.ts';
import type { Stop } from '../coordinator/report_log.ts';

/** Longest delay of a timer: 25 days. */
const maxTimerMilliseconds = 2 ** 31 - 1;

/** Starts a timer, capped at the longest possible delay. */
export const startTimer = (seconds: number, work: () => void): NodeJS.Timeout =>
  setTimeout(work, Math.min(seconds * 1000, maxTimerMilliseconds));

export type StopSignals = {
  /** Signal for the steps up to the end of the script. */
  script: AbortController;
  /** Signal for the whole job. */
  all: AbortController;
  /** Null: not stopped. */
  getReason: () => StopReason | null;
  onStopRequest: (stop: Stop) => void;
  end: (reason: StopReason) => void;
};

export const makeStopSignals = (): StopSignals => {
  const script = new AbortController();
  const all = new AbortController();
  const end = (reason: StopReason): void => {
    if (!script.signal.aborted) script.abort(reason);
    if (reason === 'abort') all.abort(reason);
  };
  return {
    script,
    all,
    getReason: () =>
      all.signal.aborted ? 'abort' : script.signal.aborted ? (script.signal.reason as StopReason) : null,
    onStopRequest: (stop) => end(stop === 'cancel' ? 'cancel' : 'abort'),
    end,
  };
};
