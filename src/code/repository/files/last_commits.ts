import type { Commit, Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';

export type LastCommits = {
  /** Keyed by the name of the entry. */
  commits: Map<string, Commit>;
  /** False: the time was over before all were found. */
  isFinished: boolean;
};

/** Finds the last commit that changed each of these entries of a folder, within a time. */
export const findLastCommits = async (
  { repository }: Pick<Code, 'repository'>,
  request: { commit: Oid; path: string; names: string[]; milliseconds: number },
): Promise<LastCommits> => {
  const { ids, commits, isFinished } = await repository.ask('tree.last_commits', request);
  const byId = new Map(commits.map((commit) => [commit.id, commit]));
  const pairs = request.names.flatMap((name, at): [string, Commit][] => {
    const commit = byId.get(ids[at] ?? '');
    return commit === undefined ? [] : [[name, commit]];
  });
  return { commits: new Map(pairs), isFinished };
};
