import { argon2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Failure } from '../../platform/errors.ts';

type Cost = { memory: number; passes: number; parallelism: number };

/** OWASP's minimum: 19 MiB, two passes, one lane; about 20 ms, off the event loop. */
export const usualPasswordCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
let costOfNew = usualPasswordCost;

/** Sets the cost of new hashes; existing hashes keep their cost. Tests lower it, because they hash at each start. */
export const setPasswordCost = (cost: Cost): void => void (costOfNew = cost);

const parseCost = (parameters: string): Cost => {
  const [, memory, passes, parallelism] = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters) ?? [];
  return { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
};
const tagLength = 32;

const run = promisify(argon2) as (algorithm: 'argon2id', parameters: object) => Promise<Buffer>;

/** Maximum number of passwords hashed concurrently. One of Node's four threads stays free for files. */
const maxConcurrentHashes = 3;
const maxQueuedHashes = 100;
let running = 0;
const waiting: (() => void)[] = [];

const busy = (): Failure =>
  new Failure('too_many_requests', { message: '429 Too Many Requests' }, { 'retry-after': '5' });

/** Runs work with limited concurrency. @throws Failure 429 if a hundred wait already */
const withQueue = async <T>(work: () => Promise<T>): Promise<T> => {
  if (running < maxConcurrentHashes) running += 1;
  else if (waiting.length < maxQueuedHashes) await new Promise<void>((resolve) => void waiting.push(resolve));
  else throw busy();
  try {
    return await work();
  } finally {
    // The first in the queue takes over this slot.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
};

const computeTag = async (password: string, nonce: Buffer, cost: Cost): Promise<Buffer> =>
  await withQueue(async () => await run('argon2id', { message: password, nonce, tagLength, ...cost }));

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/**
 * Hashes a password as PHC string: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`.
 * @throws Failure 429 if too many passwords wait, as does `isPassword`
 */
export const hashPassword = async (password: string, random: (bytes: number) => Buffer): Promise<string> => {
  const nonce = random(16);
  const cost = costOfNew;
  const tag = await computeTag(password, nonce, cost);
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;
};

/** Verifies a password. Takes the same time if the user has none. */
export const isPassword = async (password: string, stored: string | null): Promise<boolean> => {
  const [, , , parameters = '', salt = '', tag = ''] = (stored ?? '').split('$');
  const nonce = stored === null ? Buffer.alloc(16) : Buffer.from(salt, 'base64');
  const cost = stored === null ? costOfNew : parseCost(parameters);
  const actualTag = await computeTag(password, nonce, cost);
  const expectedTag = Buffer.from(tag, 'base64');
  return (
    stored !== null && expectedTag.length === actualTag.length && timingSafeEqual(actualTag, expectedTag)
  );
};
