/** Lists branches, and compares them with the default branch. */
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { Divergence, Ref } from '../../../platform/git/protocol_types.ts';
import { type Code, getDefaultRef } from '../find_code.ts';
import { branchPrefix, loadRefs } from '../refs/resolve.ts';

export const branchOrders = {
  name_asc: { sort: 'name', descending: false },
  name_desc: { sort: 'name', descending: true },
  updated_asc: { sort: 'updated', descending: false },
  updated_desc: { sort: 'updated', descending: true },
} as const;

export type BranchOrder = keyof typeof branchOrders;

export type BranchFilter = {
  /** Part of the name. */
  search?: string | undefined;
  order: BranchOrder;
  /** Only branches whose last commit is not older, in milliseconds ... */
  since?: number;
  /** ... and older than this. */
  before?: number;
};

const toSeconds = (time: number): number => Math.floor(time / 1_000);

export const listBranches = async (
  { repository }: Code,
  { search, order, since, before }: BranchFilter,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<Ref>> => {
  const { refs, total } = await repository.ask('refs.list', {
    prefix: branchPrefix,
    ...(search !== undefined && search !== '' && { search }),
    ...(since !== undefined && { since: toSeconds(since) }),
    ...(before !== undefined && { before: toSeconds(before) }),
    ...branchOrders[order],
    offset,
    limit,
  });
  return { items: refs, total };
};

/** Time for comparing the branches of one page. */
const milliseconds = 1_500;

/**
 * Counts the commits that branches have and the default branch lacks, and the reverse; null if that is unknown, as
 * for histories that take too long to compare. One request for at most 100 branches.
 */
export const loadDivergences = async (
  { project, repository }: Code,
  refs: readonly Ref[],
): Promise<(Divergence | null)[]> => {
  const defaultRef = getDefaultRef(project);
  const [base] = defaultRef === null ? [] : await loadRefs(repository, [defaultRef]);
  if (base?.commit === null || base?.commit === undefined || refs.length === 0) return refs.map(() => null);
  const ids = refs.map(({ commit, target }) => commit ?? target);
  const { counts } = await repository.ask('commits.ahead_behind', { base: base.commit, ids, milliseconds });
  return counts;
};
