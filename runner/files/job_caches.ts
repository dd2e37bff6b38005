/** Restores and saves caches on this machine: a zip per key, separate by project and by protection of the ref. */
import { hash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type TransferParts, isUploadedAfter, warnUnnameable } from './transfer_artifacts.ts';
import { collect } from './collect_files.ts';
import { projectFolder } from './slot_folders.ts';
import { writeZipTo } from './write_archive.ts';
import type { Cache, Job } from '../coordinator/protocol.ts';
import { unpack } from './extract_archive.ts';
import { expandVariables } from '../job_variables.ts';

export type CacheParts = TransferParts & {
  job: Job;
  /** Folder of all caches. */
  caches: string;
};

const expandKeys = ({ key, fallback_keys }: Cache, { values }: CacheParts): string[] =>
  [key ?? 'default', ...(fallback_keys ?? [])]
    .map((one) => expandVariables(one, values))
    .filter((one) => one !== '');

/** A protected ref must not read caches written by unprotected refs. */
const getCacheFile = (key: string, { job, caches }: CacheParts): string => {
  const kind = job.git_info.protected === true ? 'protected' : 'open';
  const name = hash('sha256', key, 'hex');
  return join(caches, projectFolder(job), kind, `${name}.zip`);
};

const may = (policy: string | null | undefined, what: 'pull' | 'push'): boolean =>
  (policy || 'pull-push').split('-').includes(what);

const restore = async (cache: Cache, parts: CacheParts): Promise<void> => {
  const { trace, source, user } = parts;
  const [first = 'default', ...others] = expandKeys(cache, parts);
  trace.say(`Checking cache for ${first}...`, 'green');
  const key = [first, ...others].find((one) => existsSync(getCacheFile(one, parts)));
  if (key === undefined) return trace.say('No cache is there yet');
  try {
    const file = getCacheFile(key, parts);
    const now = new Date();
    await utimes(file, now, now); // least recently used first
    await unpack(file, source.root, user);
    trace.say(`Successfully extracted cache ${key}`);
  } catch (error) {
    trace.say(`WARNING: the cache ${key} could not be used: ${(error as Error).message}`, 'yellow');
  }
};

export const restoreCaches = async (caches: readonly Cache[], parts: CacheParts): Promise<void> => {
  const selected = caches.filter(({ policy }) => may(policy, 'pull'));
  if (selected.length === 0) return;
  await parts.trace.section('restore_cache', async () => {
    parts.trace.say('Restoring cache', 'blue');
    for (const cache of selected) await restore(cache, parts);
  });
};

const save = async (cache: Cache, parts: CacheParts): Promise<void> => {
  const { trace, source, values, own } = parts;
  const [key = 'default'] = expandKeys(cache, parts);
  trace.say(`Creating cache ${key}...`, 'green');
  const paths = (cache.paths ?? []).map((path) => expandVariables(path, values));
  const { files, perPath, unnameable } = await collect(source, {
    paths,
    exclude: [],
    untracked: cache.untracked === true,
  });
  for (const [path, count] of perPath) trace.say(`${path}: found ${count} matching files and directories`);
  warnUnnameable(trace, unnameable);
  if (files.length === 0) return;
  const draft = join(own, 'cache.zip');
  const file = getCacheFile(key, parts);
  try {
    const out = createWriteStream(draft, { mode: 0o600 });
    await writeZipTo(source.root, files, out);
    await new Promise<void>((resolve, reject) => {
      out.on('error', reject);
      out.end(resolve);
    });
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    await rename(draft, file);
    trace.say('Created cache');
  } finally {
    await rm(draft, { force: true });
  }
};

/** A failure to save a cache does not fail the job. */
export const saveCaches = async (
  caches: readonly Cache[],
  succeeded: boolean,
  parts: CacheParts,
): Promise<void> => {
  const selected = caches.filter(
    ({ policy, when }) => may(policy, 'push') && isUploadedAfter(when, succeeded),
  );
  if (selected.length === 0) return;
  await parts.trace.section(succeeded ? 'archive_cache' : 'archive_cache_on_failure', async () => {
    parts.trace.say(`Saving cache for ${succeeded ? 'successful' : 'failed'} job`, 'blue');
    for (const cache of selected) {
      const logFailure = (error: Error): void =>
        parts.trace.say(`WARNING: the cache was not kept: ${error.message}`, 'yellow');
      await save(cache, parts).catch(logFailure);
    }
  });
};
