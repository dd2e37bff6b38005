/** Remembers reads that ran out of time, so that not every request repeats them. */
import { makeLruMap } from './lru_cache.ts';

type Pause = { endsAt: number; milliseconds: number };

type FailedReads = {
  /** Returns whether the read ran out of time a short while ago. */
  isPaused: (key: string, now: number) => boolean;
  /** Notes that the read ran out of time. */
  add: (key: string, now: number) => void;
};

const maxReads = 2_000;

/**
 * Creates the memory of one kind of read. A read that runs out of time again waits twice as long as before.
 * @param shortest milliseconds of the first pause
 * @param longest milliseconds
 */
export const makeFailedReads = (shortest: number, longest: number): FailedReads => {
  const pauses = makeLruMap<Pause>(maxReads, () => 1);
  return {
    isPaused: (key, now) => (pauses.get(key)?.endsAt ?? 0) > now,
    add: (key, now) => {
      const last = pauses.get(key);
      const milliseconds = last === undefined ? shortest : Math.min(2 * last.milliseconds, longest);
      pauses.set(key, { endsAt: now + milliseconds, milliseconds });
    },
  };
};
