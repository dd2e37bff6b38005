/** The Atom feed of the commits of a branch, or of a file in it. */
import { toCommitTitle } from '../../../../code/repository/commits/json.ts';
import { walkCommits } from '../../../../code/repository/commits/read_commits.ts';
import { Failure } from '../../../../platform/errors.ts';
import type { Commit } from '../../../../platform/git/protocol_types.ts';
import type { RawPage, Visit } from '../../page.ts';
import { withAnonymousPlace } from '../../parts/code/anonymous_page_limit.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodePlace, findPlace } from '../../parts/code/code_location.ts';
import { clampTime, commitPath } from '../../parts/code/commit_line.ts';
import { type FeedEntry, atomFeed } from '../../parts/feeds/atom.ts';

const maxEntries = 20;

const historyPath = ({ project, ref, path }: CodePlace): string => codePath(project, 'commits', ref, path);

const feedPath = (place: CodePlace): string => `${historyPath(place)}?format=atom`;

const titleOf = ({ project, ref, path }: CodePlace): string =>
  `${project.full_path}:${ref}${path === '' ? '' : `/${path}`} commits`;

/** Names the feed in the head of a page. */
export const commitsFeedLink = (place: CodePlace): { title: string; path: string } => ({
  title: titleOf(place),
  path: feedPath(place),
});

type Asked = { project: string; rest?: string | undefined };

const suffix = '.atom';

/**
 * Finds what a feed shows: `?format=atom`, or an address that ends in `.atom` and is not that of a ref.
 * @returns null: a page is requested
 */
export const findFeed = async (
  visit: Visit,
  { project, rest }: Asked,
  format: string | undefined,
): Promise<CodePlace | null> => {
  if (format === 'atom') return await findPlace(visit, { project, rest });
  if (rest?.endsWith(suffix) !== true) return null;
  try {
    await findPlace(visit, { project, rest });
    return null;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return await findPlace(visit, { project, rest: rest.slice(0, -suffix.length) });
  }
};

const toEntry = ({ project }: CodePlace, commit: Commit): FeedEntry => {
  const { id, author, message } = commit;
  const title = toCommitTitle(message);
  return {
    title,
    path: commitPath(project, id),
    updated: clampTime(commit.committer),
    author: { name: author.name, email: author.email },
    summary: message.slice(title.length).trim(),
  };
};

export const commitsFeed = async (visit: Visit, place: CodePlace): Promise<RawPage> => {
  const { code, commit, path } = place;
  const walk = async (): Promise<Commit[]> =>
    await walkCommits(code, commit, { search: '', author: '', path }, { skip: 0, limit: maxEntries });
  const commits = path === '' ? await walk() : await withAnonymousPlace(visit, walk);
  return atomFeed(visit, {
    title: titleOf(place),
    path: historyPath(place),
    self: feedPath(place),
    entries: commits.map((one) => toEntry(place, one)),
  });
};
