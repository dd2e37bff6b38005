/** Caches lie with the runners; what they are called is told to them. */
import { createHash } from 'node:crypto';
import type { Cache } from '../ci_file/plan_types.ts';
import type { Repository } from '../git/repository.ts';

export type PayloadCache = {
  key: string;
  untracked: boolean;
  paths: string[];
  policy: string;
  when: string;
  fallback_keys: string[];
};

/** A file's place in the commit; its bytes are not asked for. */
const idOf = async (repository: Repository, commit: string, path: string): Promise<string | null> =>
  (await repository.ask('blob.at', { commit, path, max: 0 }))?.id ?? null;

/** Another one as soon as a file is another; `default` where there is none of them. */
const keyOfFiles = async (
  repository: Repository,
  commit: string,
  { files, prefix }: { files: string[]; prefix: string | null },
): Promise<string> => {
  const ids = await Promise.all(files.map((path) => idOf(repository, commit, path)));
  const there = ids.flatMap((id, index) => (id === null ? [] : [`${files[index]} ${id}`]));
  const digest = there.length === 0 ? 'default' : createHash('sha1').update(there.join('\n')).digest('hex');
  return prefix === null || prefix === '' ? digest : `${prefix}-${digest}`;
};

type Commit = { repository: Repository; sha: string; isProtected: boolean };

const payloadCache = async (
  cache: Cache,
  { repository, sha, isProtected }: Commit,
): Promise<PayloadCache> => {
  const { key, untracked, paths, policy, when, fallback_keys, unprotect } = cache;
  const name = typeof key === 'string' ? key : await keyOfFiles(repository, sha, key);
  // What runs for a branch of anybody must not leave something for a protected one.
  const side = isProtected && !unprotect ? 'protected' : 'non_protected';
  const fallbacks = fallback_keys.map((one) => `${one}-${side}`);
  return { key: `${name}-${side}`, untracked, paths, policy, when, fallback_keys: fallbacks };
};

/** null: nothing. */
export const payloadCaches = async (
  caches: readonly Cache[],
  commit: Commit,
): Promise<PayloadCache[] | null> =>
  caches.length === 0 ? null : await Promise.all(caches.map((cache) => payloadCache(cache, commit)));
