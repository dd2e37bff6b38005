/** Counts failed sign-ins and decides when to refuse the next one. Pure. */
import { hash } from 'node:crypto';
import { getOrigin } from '../../platform/addresses/client_origin.ts';
import { hourMilliseconds } from '../../platform/time.ts';

const usualWindow = 60_000;
const maxFailures = 10;
const shortestRefusal = 60_000;
const maxRefusalMilliseconds = hourMilliseconds;

/** The counters of one name. */
export type Count = {
  failures: number;
  /** Time of the first counted failure. */
  first_at: number;
  /** Number of recent refusals. */
  refusals: number;
  refused_until: number;
};

export const noFailures: Count = { failures: 0, first_at: 0, refusals: 0, refused_until: 0 };

/** Returns the milliseconds until the next attempt is allowed; 0: now, also if the clock was set back since. */
export const getRefusalTime = ({ first_at, refused_until }: Count, now: number): number =>
  first_at > now ? 0 : Math.max(refused_until - now, 0);

/** Limit: the window in milliseconds (default: a minute) and the number of failures (default: ten). */
export type FailureLimits = {
  window?: number;
  max?: number;
  /** Number of failures to add; default: one. */
  times?: number;
  /** Too many are refused until their window ends, instead of for a minute and longer each time. */
  isQuota?: boolean;
};

/** Adds a failure. Ten within a minute refuse further attempts for a minute, then for two, up to an hour. */
export const addFailure = (
  count: Count,
  now: number,
  { window = usualWindow, max = maxFailures, times = 1, isQuota = false }: FailureLimits = {},
): Count => {
  const isRecent = count.first_at <= now && now - count.first_at < window && count.failures > 0;
  const failures = isRecent ? count.failures + times : times;
  const first_at = isRecent ? count.first_at : now;
  if (failures < max) return { ...count, failures, first_at };
  if (isQuota) return { failures: 0, first_at: now, refusals: 0, refused_until: first_at + window };
  const isRepeated = count.first_at <= now && now - count.refused_until < maxRefusalMilliseconds;
  const refusals = isRepeated ? count.refusals + 1 : 1;
  const refusal = Math.min(shortestRefusal * 2 ** (refusals - 1), maxRefusalMilliseconds);
  return { failures: 0, first_at: now, refusals, refused_until: now + refusal };
};

/** Milliseconds after which a count can be deleted. */
export const forgottenAfter = 2 * maxRefusalMilliseconds;

/**
 * Returns the names under which a failed sign-in counts: the origin alone, and the origin with the account. The account
 * is hashed, because people type passwords into the wrong field.
 */
export const getCountedNames = (ip: string, login: string): [string, string] => {
  const origin = getOrigin(ip);
  return [origin, `${origin} ${hash('sha256', login.trim().toLowerCase())}`];
};
