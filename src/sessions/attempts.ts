/** How failed sign-ins are counted, and when the next one is refused unread: pure. */
import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';

const usualWindow = 60_000;
const mostFailures = 10;
const shortestRefusal = 60_000;
const longestRefusal = 3_600_000;

/** What is kept of one name. */
export type Count = {
  failures: number;
  /** Of those counted. */
  first_at: number;
  /** How often it was refused of late. */
  refusals: number;
  refused_until: number;
};

export const noFailures: Count = { failures: 0, first_at: 0, refusals: 0, refused_until: 0 };

/** Milliseconds for which nobody need try; 0: one may. */
export const refusedFor = ({ refused_until }: Count, now: number): number => Math.max(refused_until - now, 0);

/**
 * One more failure. Ten within a minute refuse what follows for a minute, then for two, up to an hour.
 * @param window milliseconds, instead of that first minute
 */
export const withFailure = (count: Count, now: number, window = usualWindow): Count => {
  const isRecent = now - count.first_at < window && count.failures > 0;
  const failures = isRecent ? count.failures + 1 : 1;
  const first_at = isRecent ? count.first_at : now;
  if (failures < mostFailures) return { ...count, failures, first_at };
  const isRepeated = now - count.refused_until < longestRefusal;
  const refusals = isRepeated ? count.refusals + 1 : 1;
  const refusal = Math.min(shortestRefusal * 2 ** (refusals - 1), longestRefusal);
  return { failures: 0, first_at: now, refusals, refused_until: now + refusal };
};

/** When a count has nothing more to say. */
export const forgottenAfter = 2 * longestRefusal;

/** The first 64 bits of an IPv6 address: whoever has one address has all of those. */
const networkOf = (address: string): string => {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((part) => part !== '');
  const after = (tail ?? '').split(':').filter((part) => part !== '');
  const zeros = tail === undefined ? 0 : Math.max(8 - before.length - after.length, 0);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
};

/** Whence a sign-in comes: an address, or for IPv6 its network. */
export const originOf = (ip: string): string => {
  // Some proxies tell the port, too: another one for each connection.
  const bare = /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? ip.replace(/^([\d.]+):\d+$/, '$1');
  const address = bare.toLowerCase().replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  return mapped ?? (isIPv6(address) ? networkOf(address) : address);
};

/**
 * What a failed sign-in counts against: whence it came, alone and with the account that was named. The account is
 * hashed, for people type passwords into the wrong field.
 */
export const countedNames = (ip: string, login: string): [string, string] => {
  const origin = originOf(ip);
  return [origin, `${origin} ${hash('sha256', login.trim().toLowerCase())}`];
};
