/** The signals that stop a job early (timeout, cancellation, silence), and the reason. */
import type { Why } from '../executors/run_process.ts';
import type { Stop } from '../coordinator/report_log.ts';

/** Longest delay of a timer: 25 days. */
const longestTimer = 2 ** 31 - 1;

/** Starts a timer, capped at the longest possible delay. */
export const afterSeconds = (seconds: number, work: () => void): NodeJS.Timeout =>
  setTimeout(work, Math.min(seconds * 1000, longestTimer));

export type Stops = {
  /** Signal for the steps up to the end of the script. */
  script: AbortController;
  /** Signal for the whole job. */
  all: AbortController;
  /** Null: not stopped. */
  why: () => Why | null;
  heard: (stop: Stop) => void;
  end: (why: Why) => void;
};

export const makeStops = (): Stops => {
  const script = new AbortController();
  const all = new AbortController();
  const end = (why: Why): void => {
    if (!script.signal.aborted) script.abort(why);
    if (why === 'abort') all.abort(why);
  };
  return {
    script,
    all,
    why: () => (all.signal.aborted ? 'abort' : script.signal.aborted ? (script.signal.reason as Why) : null),
    heard: (stop) => end(stop === 'cancel' ? 'cancel' : 'abort'),
    end,
  };
};
