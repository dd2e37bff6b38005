/** Compares the default branch of a fork with the default branch of its upstream, the project it was forked from. */
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Divergence, Oid } from '../../../platform/git/protocol_types.ts';
import { makeFailedReads } from '../../../platform/failed_reads.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import type { Code } from '../find_code.ts';
import { openCachedCode } from '../read_cache.ts';
import { branchPrefix, findRef } from '../refs/resolve.ts';

/** @property divergence how the fork differs from the upstream; null: unknown, as for projects on different storages */
export type UpstreamState = { upstream: Project; branch: string; divergence: Divergence | null };

/** Milliseconds that git may count. */
const maxCounting = 200;
const maxDivergences = 2_000;

/** Counts by the pair of commits; they never change. */
const divergences = makeLruCache<Divergence>(maxDivergences, () => 1);

/** Pairs of commits that git could not count in time. The first pause is short, as the machine may only be busy. */
const uncounted = makeFailedReads(1_000, 600_000);

/** Loads the project that a fork was made from; null if it has none, or the caller may not read its code. */
export const loadUpstream = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  { forked_from_project_id: id }: Project,
): Promise<Project | null> => {
  const upstream = id === null ? null : await loadProject(db, id);
  return upstream !== null && may(viewer, 'read_code', upstream) ? upstream : null;
};

/** Returns the commit of the default branch; null if it has none. */
export const findDefaultHead = async ({ project, repository }: Code): Promise<Oid | null> => {
  const { default_branch: branch } = project;
  return branch === null ? null : ((await findRef(repository, branchPrefix + branch))?.commit ?? null);
};

const countDivergence = async (
  { now }: Pick<Call, 'now'>,
  fork: Code,
  upstream: Code,
  [head, base]: [Oid, Oid],
): Promise<Divergence | null> => {
  if (head === base) return { ahead: 0, behind: 0 };
  if (fork.repository.storage !== upstream.repository.storage) return null;
  const key = `${base} ${head}`;
  const cached = divergences.get(key);
  if (cached !== undefined) return cached;
  if (uncounted.isPaused(key, now)) return null;
  const { counts } = await fork.repository.ask('commits.ahead_behind', {
    base,
    ids: [head],
    milliseconds: maxCounting,
    source: upstream.repository.path,
  });
  const [counted = null] = counts;
  if (counted === null) uncounted.add(key, now);
  else divergences.set(key, counted);
  return counted;
};

/** Compares a fork with its upstream; null if it has none that the caller may read, or one of them has no commits. */
export const loadUpstreamState = async (call: Call, project: Project): Promise<UpstreamState | null> => {
  const upstream = await loadUpstream(call, project);
  if (upstream === null || upstream.default_branch === null) return null;
  const [fork, above] = [openCachedCode(call, project), openCachedCode(call, upstream)];
  try {
    const [head, base] = await Promise.all([findDefaultHead(fork), findDefaultHead(above)]);
    if (head === null || base === null) return null;
    const divergence = await countDivergence(call, fork, above, [head, base]);
    return { upstream, branch: upstream.default_branch, divergence };
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return null;
  }
};
