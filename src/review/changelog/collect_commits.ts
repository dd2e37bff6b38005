/** Collects the commits of a range that a changelog names: commits with its trailer, except reverted commits. */
import type { Code } from '../../code/repository/find_code.ts';
import type { Commit, Oid } from '../../platform/git/protocol_types.ts';
import { changelogFailure } from './template.ts';

/** Commits of one changelog at most. */
const maxCommits = 1_000;

export type ChangelogCommit = { commit: Commit; category: string; trailers: Map<string, string> };

const trailerLine = /^([A-Za-z0-9-]+)\s*:\s*(.*)$/;

/** Reads the trailers of a message: its last paragraph, if all of its lines are trailers. */
const readTrailers = (message: string): Map<string, string> => {
  const paragraphs = message.trimEnd().split(/\n\s*\n/);
  const lines = paragraphs.length < 2 ? [] : (paragraphs.at(-1) ?? '').split('\n');
  const trailers = new Map<string, string>();
  let last = '';
  for (const line of lines) {
    const [, name, value = ''] = trailerLine.exec(line) ?? [];
    if (name !== undefined) trailers.set((last = name), value.trim());
    else if (/^\s/.test(line) && last !== '')
      trailers.set(last, `${trailers.get(last) ?? ''} ${line.trim()}`);
    else if (!line.startsWith('(cherry picked from commit')) return new Map();
  }
  return trailers;
};

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
    const trailers = readTrailers(commit.message);
    const category = trailers.get(trailer);
    return category === undefined || category === '' || reverted.has(commit.id)
      ? []
      : [{ commit, category, trailers }];
  });
};
