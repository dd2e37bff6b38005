/** Notices when the wall clock was set, or the machine slept: it then moves otherwise than the time that passes. */

/** Milliseconds. A clock is slewed by less than this between two readings that are some seconds apart. */
const minStep = 5_000;

/**
 * Returns a function that takes the time of the clock, and returns the milliseconds that it was set ahead since the
 * last call, or set back if negative; 0: it was not.
 */
export const watchClock = (): ((now: number) => number) => {
  let offset: number | null = null;
  return (now) => {
    const next = now - performance.now();
    const step = next - (offset ?? next);
    offset = next;
    return Math.abs(step) < minStep ? 0 : step;
  };
};
