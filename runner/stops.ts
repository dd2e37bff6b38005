/** What ends a job before its time. */
import type { Why } from './executors/run.ts';
import type { Stop } from './reporter.ts';

/** What a timer counts to: 25 days. */
const longestTimer = 2 ** 31 - 1;

/** A timer of so many seconds; one that is longer than any can be never ends before its time. */
export const afterSeconds = (seconds: number, work: () => void): NodeJS.Timeout =>
  setTimeout(work, Math.min(seconds * 1000, longestTimer));

export type Stops = {
  /** For all up to the last line of the script. */
  script: AbortController;
  /** For all of it. */
  all: AbortController;
  /** Null: nobody stopped it. */
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
