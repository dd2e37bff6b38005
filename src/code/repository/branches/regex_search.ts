/** Lists branches whose names match a user's regular expression, in linear time. */
import { invalid } from '../../../platform/errors.ts';
import type { Ref } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { branchPrefix, loadRefs } from '../refs/resolve.ts';

const namesPerCall = 10_000;
/** Maximum matcher steps per request: some tenths of a second. */
const maxSteps = 20_000_000;

export type BranchWalk = {
  search?: string | undefined;
  sort: 'name' | 'updated';
  descending: boolean;
  offset: number;
  limit: number;
};

/**
 * Returns a page of the matching branches, and their total.
 * @throws Failure 400 for an expression that RE2 rejects, or that is too slow for that many branches
 */
export const listMatchingBranches = async (
  repository: Code['repository'],
  regex: string,
  { search = '', sort, descending, offset, limit }: BranchWalk,
): Promise<{ refs: Ref[]; total: number }> => {
  const { compilePattern } = await import('../../../platform/pattern.ts');
  const pattern = compilePattern(regex);
  if (pattern === null) throw invalid({ regex: ['is invalid'] });
  const walk = {
    prefix: branchPrefix,
    ...(search !== '' && { search }),
    sort,
    descending,
    limit: namesPerCall,
  };
  const matching: string[] = [];
  let steps = 0;
  for (let at = 0, all = 1; at < all; at += namesPerCall) {
    const { names, total } = await repository.ask('refs.names', { ...walk, offset: at });
    all = total;
    for (const name of names) {
      const short = name.slice(branchPrefix.length);
      steps += pattern.size * (short.length + 1);
      if (steps > maxSteps) throw invalid({ regex: ['is too complex for so many branches'] });
      if (pattern.test(short)) matching.push(name);
    }
  }
  const refs = await loadRefs(repository, matching.slice(offset, offset + limit));
  return { refs: refs.filter((ref) => ref !== null), total: matching.length };
};
