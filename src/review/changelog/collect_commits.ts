/** Collects the commits of a range that a changelog names: commits with its trailer, except reverted commits. */
import { readTrailers } from '../../code/repository/commits/trailers.ts';
import type { Code } from '../../code/repository/find_code.ts';
import type { Commit, Oid } from '../../platform/git/protocol_types.ts';
import { changelogFailure } from './template.ts';

/** Commits of one changelog at most. */
const maxCommits = 1_000;

export type ChangelogCommit = { commit: Commit; category: string; trailers: Map<string, string> };

type Range = { from: Oid; to: Oid };

/** Lists commits of a range whose message contains a text. @throws Failure 422 for too many */
const listCommits = async ({ repository }: Code, { from, to }: Range, search: string): Promise<Commit[]> => {
  const walk = { from: [to], not: [from], search, skip: 0, limit: maxCommits + 1 };
  const { commits } = await repository.ask('commits.list', walk);
  if (commits.length > maxCommits)
    throw changelogFailure(`the range has more than ${maxCommits} commits of a changelog`);
  return commits;
};

const revertedBy = (message: string): string[] =>
  [...message.matchAll(/This reverts commit ([0-9a-f]{40})/g)].map(([, id = '']) => id);

/** Returns the commits to name, newest first. */
export const collectCommits = async (
  code: Code,
  range: Range,
  trailer: string,
): Promise<ChangelogCommit[]> => {
  const [candidates, reverts] = await Promise.all([
    listCommits(code, range, `${trailer}:`),
    listCommits(code, range, 'This reverts commit'),
  ]);
  const reverted = new Set(reverts.flatMap(({ message }) => revertedBy(message)));
  return candidates.flatMap((commit) => {
    const trailers = new Map(readTrailers(commit.message));
    const category = trailers.get(trailer);
    return category === undefined || category === '' || reverted.has(commit.id)
      ? []
      : [{ commit, category, trailers }];
  });
};
