/**
 * Remembers commits that visible refs reach, until a ref changes, so that fetches of commits that are no tips start no
 * walk. An absent commit may still be reachable: the set is bounded, and filled only when it is asked a second time.
 */
import type { Context } from '../handler_types.ts';
import { count, flag } from '../exec/arguments.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid } from '../protocol_records.ts';

/** Commits of one repository, the newest ones. A walk of as many takes a fraction of a second. */
const maxCommits = 20_000;
/** Commits of all repositories, about a hundred bytes each. */
const maxCommitsInAll = 200_000;

type Reachable = { commits: Set<Oid>; isFilled: boolean };

const sets = makeLruCache<Reachable>(maxCommitsInAll, ({ commits }) => commits.size + 10);

const walk = async ({ exec, dir }: Context, tips: readonly Oid[]): Promise<Set<Oid>> => {
  const { stdout } = await exec.run({
    command: 'rev-list',
    args: [count('--max-count=', maxCommits), flag('--ignore-missing'), flag('--stdin')],
    dir,
    slot: 'interactive',
    seconds: 60,
    // Not aborted with this caller: the set is for the next ones.
    signal: new AbortController().signal,
    input: `${tips.join('\n')}\n`,
  });
  return new Set(stdout.toString('latin1').trim().split('\n'));
};

/** Returns the commits of which nothing is remembered. @param key repository, state of its refs, and visible kinds */
export const selectUnknown = (key: string, commits: readonly Oid[]): Oid[] => {
  const reachable = sets.get(key);
  return reachable === undefined ? [...commits] : commits.filter((oid) => !reachable.commits.has(oid));
};

/** Remembers commits that a walk found reachable. After the first, fills the set without delaying the caller. */
export const rememberReachable = (
  context: Context,
  key: string,
  { commits, tips }: { commits: readonly Oid[]; tips: readonly Oid[] },
): void => {
  const reachable = sets.get(key);
  if (reachable === undefined) {
    sets.set(key, { commits: new Set(commits.slice(0, maxCommits)), isFilled: false });
    return;
  }
  for (const oid of commits) if (reachable.commits.size < maxCommits) reachable.commits.add(oid);
  // Weighs it again.
  sets.set(key, reachable);
  if (reachable.isFilled) return;
  reachable.isFilled = true;
  walk(context, tips)
    .then((walked) => sets.set(key, { commits: walked.union(reachable.commits), isFilled: true }))
    .catch(() => {
      reachable.isFilled = false;
    });
};
