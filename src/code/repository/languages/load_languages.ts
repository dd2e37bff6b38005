import type { Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { waitAtMost } from '../../../platform/wait_at_most.ts';
import type { Code } from '../find_code.ts';
import { requireRef } from '../refs/resolve.ts';

/** A language of a project's files, with its bytes and its share in percent, rounded to hundredths. */
export type LanguageShare = { name: string; bytes: number; percent: number };

const cache = makeLruCache<readonly LanguageShare[]>(2_000, () => 1);

/**
 * Loads the languages of a commit that the caller may read, most bytes first. Vendored and generated files,
 * documentation and hidden folders do not count. Cached by commit.
 */
const loadLanguagesAt = async ({ repository }: Code, commit: Oid): Promise<readonly LanguageShare[]> => {
  const key = `${repository.path} ${commit}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const { languages } = await repository.ask('tree.languages', { commit });
  const total = languages.reduce((sum, { bytes }) => sum + bytes, 0);
  const shares = languages.map(({ name, bytes }) => ({
    name,
    bytes,
    percent: Math.round((bytes / total) * 10_000) / 100,
  }));
  cache.set(key, shares);
  return shares;
};

/** Loads the languages of the default branch, most bytes first. */
export const loadLanguages = async (code: Code): Promise<readonly LanguageShare[]> => {
  if (code.project.default_branch === null) return [];
  const { commit } = await requireRef(code, code.project.default_branch, 'Commit');
  return await loadLanguagesAt(code, commit);
};

/** Milliseconds that a page waits. */
const maxWaitMilliseconds = 500;

/** Like `loadLanguagesAt`, but empty if counting takes long: a large repository is shown at a later visit. */
export const loadLanguagesBriefly = async (code: Code, commit: Oid): Promise<readonly LanguageShare[]> => {
  return await waitAtMost(loadLanguagesAt(code, commit), maxWaitMilliseconds, []);
};
