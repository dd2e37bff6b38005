/** Builds the cache keys of a job. The caches themselves are stored by the runners. */
import { hash } from 'node:crypto';
import type { Cache } from '../../ci_file/config_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';

export type PayloadCache = {
  key: string;
  untracked: boolean;
  paths: string[];
  policy: string;
  when: string;
  fallback_keys: string[];
};

/** Returns the id of a file's blob in the commit, without reading its bytes. */
const loadBlobId = async (repository: Repository, commit: string, path: string): Promise<string | null> =>
  (await repository.ask('blob.at', { commit, path, max: 0 }))?.id ?? null;

/** Hashes the files into a key that changes with any of them; `default` where none of them exists. */
const hashFiles = async (
  repository: Repository,
  commit: string,
  { files, prefix }: { files: string[]; prefix: string | null },
): Promise<string> => {
  const ids = await Promise.all(files.map((path) => loadBlobId(repository, commit, path)));
  const existing = ids.flatMap((id, index) => (id === null ? [] : [`${files[index]} ${id}`]));
  const digest = existing.length === 0 ? 'default' : hash('sha1', existing.join('\n'), 'hex');
  return prefix === null || prefix === '' ? digest : `${prefix}-${digest}`;
};

type Commit = { repository: Repository; sha: string; isProtected: boolean };

const buildPayloadCache = async (
  cache: Cache,
  { repository, sha, isProtected }: Commit,
): Promise<PayloadCache> => {
  const { key, untracked, paths, policy, when, fallback_keys, unprotect } = cache;
  const name = typeof key === 'string' ? key : await hashFiles(repository, sha, key);
  // A job of an unprotected branch must not write a cache that protected branches use.
  const side = isProtected && !unprotect ? 'protected' : 'non_protected';
  const fallbacks = fallback_keys.map((one) => `${one}-${side}`);
  return { key: `${name}-${side}`, untracked, paths, policy, when, fallback_keys: fallbacks };
};

/** Returns null for a job without caches. */
export const buildPayloadCaches = async (
  caches: readonly Cache[],
  commit: Commit,
): Promise<PayloadCache[] | null> =>
  caches.length === 0 ? null : await Promise.all(caches.map((cache) => buildPayloadCache(cache, commit)));
