/** Finds the commits that a text names by whole or short ids. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { readCommit, checkIdCount } from '../commits/read_commits.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid } from '../protocol_records.ts';
import { findUnreachableCommits } from './check_wants.ts';
import { getGeneration } from './ref_generation.ts';

/** Resolves a whole or short id; null if no commit or several have it. */
const resolveId = async ({ pools, dir }: Context, id: string): Promise<Oid | null> => {
  if (!/^[0-9a-f]{4,40}$/.test(id)) return null;
  const object = await pools.catFile.info(dir, `${id}^{commit}`);
  // The id of a tag resolves to its commit, but does not identify it.
  return object?.type === 'commit' && object.id.startsWith(id) ? object.id : null;
};

type HiddenRefs = Parameters<typeof findUnreachableCommits>[2];

/** Returns whether a commit is reachable; valid until a ref changes. */
const answers = makeLruCache<boolean>(50_000);

/** Returns the commits that visible refs reach. */
const filterReachable = async (
  context: Context,
  commits: readonly Oid[],
  hidden: HiddenRefs,
): Promise<Set<Oid>> => {
  const { dir } = context;
  const place = `${dir} ${getGeneration(dir)} ${hidden.requests} ${hidden.kept}`;
  const distinct = [...new Set(commits)];
  const unknown = distinct.filter((id) => answers.get(`${place} ${id}`) === undefined);
  const reachable = new Set(distinct.filter((id) => answers.get(`${place} ${id}`) === true));
  if (unknown.length === 0) return reachable;
  const unreachable = await findUnreachableCommits(context, unknown, hidden);
  for (const id of unknown) {
    if (!unreachable.has(id)) reachable.add(id);
    answers.set(`${place} ${id}`, !unreachable.has(id));
  }
  return reachable;
};

/**
 * Reads the commits of these ids that the caller may see. Short ids are easy to guess: refs that keep commits count
 * only for full ids.
 */
export const findCommits: MethodHandler<'commits.find'> = async (params, context) => {
  const { ids, reachable = false, hide_requests: requests = false } = params;
  checkIdCount(ids);
  const resolved = await Promise.all(ids.map(async (id) => await resolveId(context, id)));
  const isWhole = (index: number): boolean => ids[index]?.length === 40;
  const filterVisible = async (areWhole: boolean): Promise<Set<Oid>> => {
    const some = resolved.filter((id, index) => id !== null && isWhole(index) === areWhole);
    const hidden = { requests, pipelines: true, kept: areWhole && !requests };
    const commits = some.filter((id) => id !== null);
    return areWhole && !reachable ? new Set(commits) : await filterReachable(context, commits, hidden);
  };
  const [whole, short] = [await filterVisible(true), await filterVisible(false)];
  const commits = resolved.map(async (id, index) =>
    id !== null && (isWhole(index) ? whole : short).has(id) ? await readCommit(context, id) : null,
  );
  return { result: { commits: await Promise.all(commits) } };
};
