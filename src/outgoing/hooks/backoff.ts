/** When a failed delivery is tried again, and when a failing hook pauses. Pure. */
import { dayMilliseconds, isWithinPause } from '../../platform/time.ts';

const seconds = 1_000;

const firstPauses = [1, 5, 15, 60].map((value) => value * seconds);

/** Failures in a row after which a hook pauses. */
export const failuresBeforePause = 4;

/** Age at which a delivery that never succeeded is dropped. */
export const maxDeliveryAge = 7 * dayMilliseconds;

/**
 * Returns the milliseconds to wait after a failed attempt: 1, 5, 15 and 60 s, then growing to a day.
 * @param failures in a row, at least 1
 * @param random from 0 to below 1: spreads the later attempts of many deliveries
 */
export const getPause = (failures: number, random: number): number => {
  const fixed = firstPauses[failures - 1];
  if (fixed !== undefined) return fixed;
  const grown = Math.min(60 * seconds * 3 ** (failures - firstPauses.length), dayMilliseconds);
  return Math.round(grown * (0.8 + 0.2 * random));
};

/**
 * Returns whether the pause after some failures lasts.
 * @param failures in a row, at least 1
 */
export const isBackingOff = (end: number, now: number, failures: number): boolean =>
  isWithinPause(end, now, getPause(failures, 1));
