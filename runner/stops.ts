/** What ends a job before its time. */
import type { Why } from './executors/run.ts';
import type { Stop } from './reporter.ts';

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
