/** The Atom feed of the commits of a branch, or of a file in it. */
import { toCommitTitle } from '../../../../code/repository/commits/json.ts';
import { walkCommits } from '../../../../code/repository/commits/list_commits.ts';
import { Failure } from '../../../../platform/errors.ts';
import type { Commit } from '../../../../platform/git/protocol_types.ts';
import type { RawPage, Visit } from '../../page.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, findLocation } from '../../parts/code/code_location.ts';
import { clampTime, commitPath } from '../../parts/code/commit_line.ts';
import { type FeedEntry, atomFeed } from '../../parts/feeds/atom.ts';

const maxEntries = 20;

const historyPath = ({ project, ref, path }: CodeLocation): string => codePath(project, 'commits', ref, path);

export const commitsFeedPath = (location: CodeLocation): string => `${historyPath(location)}?format=atom`;

const titleOf = ({ project, ref, path }: CodeLocation): string =>
  `${project.full_path}:${ref}${path === '' ? '' : `/${path}`} commits`;

/** Names the feed in the head of a page. */
export const commitsFeedLink = (location: CodeLocation): { title: string; path: string } => ({
  title: titleOf(location),
  path: commitsFeedPath(location),
});

type PageQuery = { project: string; rest?: string | undefined };

const suffix = '.atom';

/**
 * Resolves a feed request: `?format=atom`, or a URL that ends in `.atom` and does not name a ref.
 * @returns null if a page is requested
 */
export const findFeed = async (
  visit: Visit,
  { project, rest }: PageQuery,
  format: string | undefined,
): Promise<CodeLocation | null> => {
  if (format === 'atom') return await findLocation(visit, { project, rest });
  if (rest?.endsWith(suffix) !== true) return null;
  try {
    await findLocation(visit, { project, rest });
    return null;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return await findLocation(visit, { project, rest: rest.slice(0, -suffix.length) });
  }
};

const toEntry = ({ project }: CodeLocation, commit: Commit): FeedEntry => {
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

export const commitsFeed = async (visit: Visit, location: CodeLocation): Promise<RawPage> => {
  const { code, commit, path } = location;
  const walk = async (): Promise<Commit[]> =>
    await walkCommits(code, commit, { search: '', author: '', path }, { skip: 0, limit: maxEntries });
  const commits = path === '' ? await walk() : await withAnonymousSlot(visit, walk);
  return atomFeed(visit, {
    title: titleOf(location),
    path: historyPath(location),
    self: commitsFeedPath(location),
    entries: commits.map((one) => toEntry(location, one)),
  });
};
