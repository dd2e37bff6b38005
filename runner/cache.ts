/** Caches of this machine: a zip for each key, told apart by project, and by whether a ref is protected. */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type TransferParts, isWantedAfter, warnUnnameable } from './artifacts.ts';
import { collect } from './collect.ts';
import { writeZipTo } from './pack.ts';
import type { Cache, Job } from './protocol.ts';
import { unpack } from './unpack.ts';
import { expand } from './variables.ts';

export type CacheParts = TransferParts & {
  job: Job;
  /** Holds all caches. */
  caches: string;
};

const keysOf = ({ key, fallback_keys }: Cache, { values }: CacheParts): string[] =>
  [key ?? 'default', ...(fallback_keys ?? [])].map((one) => expand(one, values)).filter((one) => one !== '');

/** What a branch of anybody may write must not be read by a protected one. */
const fileOf = (key: string, { job, caches }: CacheParts): string => {
  const kind = job.git_info.protected === true ? 'protected' : 'open';
  const name = createHash('sha256').update(key).digest('hex');
  return join(caches, String(job.job_info.project_id), kind, `${name}.zip`);
};

const may = (policy: string | null | undefined, what: 'pull' | 'push'): boolean =>
  (policy || 'pull-push').split('-').includes(what);

const restore = async (cache: Cache, parts: CacheParts): Promise<void> => {
  const { trace, place, user } = parts;
  const [first = 'default', ...others] = keysOf(cache, parts);
  trace.say(`Checking cache for ${first}...`, 'green');
  const key = [first, ...others].find((one) => existsSync(fileOf(one, parts)));
  if (key === undefined) return trace.say('No cache is there yet');
  try {
    const file = fileOf(key, parts);
    const now = new Date();
    await utimes(file, now, now); // those that nobody uses go first
    await unpack(file, place.root, user);
    trace.say(`Successfully extracted cache ${key}`);
  } catch (error) {
    trace.say(`WARNING: the cache ${key} could not be used: ${(error as Error).message}`, 'yellow');
  }
};

export const restoreCaches = async (caches: readonly Cache[], parts: CacheParts): Promise<void> => {
  const wanted = caches.filter(({ policy }) => may(policy, 'pull'));
  if (wanted.length === 0) return;
  await parts.trace.section('restore_cache', async () => {
    parts.trace.say('Restoring cache', 'blue');
    // oxlint-disable-next-line no-await-in-loop -- the later ones win
    for (const cache of wanted) await restore(cache, parts);
  });
};

const save = async (cache: Cache, parts: CacheParts): Promise<void> => {
  const { trace, place, values, own } = parts;
  const [key = 'default'] = keysOf(cache, parts);
  trace.say(`Creating cache ${key}...`, 'green');
  const paths = (cache.paths ?? []).map((path) => expand(path, values));
  const { found, perPath, unnameable } = await collect(place, {
    paths,
    exclude: [],
    untracked: cache.untracked === true,
  });
  for (const [path, count] of perPath) trace.say(`${path}: found ${count} matching files and directories`);
  warnUnnameable(trace, unnameable);
  if (found.length === 0) return;
  const beside = join(own, 'cache.zip');
  const file = fileOf(key, parts);
  try {
    const out = createWriteStream(beside, { mode: 0o600 });
    await writeZipTo(place.root, found, out);
    await new Promise<void>((resolve, reject) => {
      out.on('error', reject);
      out.end(resolve);
    });
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    await rename(beside, file);
    trace.say('Created cache');
  } finally {
    await rm(beside, { force: true });
  }
};

/** A cache that cannot be kept is no fault of the job. */
export const saveCaches = async (
  caches: readonly Cache[],
  succeeded: boolean,
  parts: CacheParts,
): Promise<void> => {
  const wanted = caches.filter(({ policy, when }) => may(policy, 'push') && isWantedAfter(when, succeeded));
  if (wanted.length === 0) return;
  await parts.trace.section(succeeded ? 'archive_cache' : 'archive_cache_on_failure', async () => {
    parts.trace.say(`Saving cache for ${succeeded ? 'successful' : 'failed'} job`, 'blue');
    for (const cache of wanted) {
      const tell = (error: Error): void =>
        parts.trace.say(`WARNING: the cache was not kept: ${error.message}`, 'yellow');
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await save(cache, parts).catch(tell);
    }
  });
};
