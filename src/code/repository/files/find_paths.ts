import type { Oid } from '../../../platform/git/protocol_types.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Code } from '../find_code.ts';
import { rankPaths, toWords } from './rank_path.ts';

/** Paths that are read to be searched. */
const maxRead = 50_000;

export type FoundPaths = {
  paths: string[];
  /** There are more, or the commit has too many to list. */
  isCut: boolean;
};

/** Lists the paths of files of a commit that match each word, ignoring case; the best matches first. */
export const findPaths = async (
  { repository }: Pick<Code, 'repository'>,
  commit: Oid,
  { search, limit }: { search: string; limit: number },
): Promise<FoundPaths> => {
  const request = { commit, path: '', recursive: true, offset: 0, limit: maxRead };
  try {
    const listing = await repository.ask('tree.list', request);
    const { entries, total } = listing ?? { entries: [], total: 0 };
    const paths = entries.filter(({ type }) => type === 'blob').map(({ path }) => path);
    const { items, isCut } = rankPaths(paths, toWords(search), (path) => path);
    return { paths: items.slice(0, limit), isCut: isCut || items.length > limit || total > entries.length };
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return { paths: [], isCut: true };
    throw error;
  }
};
