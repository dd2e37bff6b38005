/** What the messages of pushed commits do: they close issues, and are noted on what they mention. */
import { actingViewer } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Commit, type Oid, zeroOid } from '../git/protocol_types.ts';
import { mayReferTo } from '../issuables/references.ts';
import { noteMentions } from '../notes/cross_references.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { closeAs, closingIssuesOf } from './closing.ts';
import { headsIn } from './heads.ts';
import type { PushedBranch } from './refresh_target.ts';

/** Of one push: of each branch the newest. */
export const mostReadCommits = 100;

/** What was there before: of a new branch, all that the default one has. */
const knownBefore = async (platform: Platform, project: Project, pushed: PushedBranch): Promise<Oid[]> => {
  const { default_branch } = project;
  if (pushed.old !== zeroOid) return [pushed.old];
  if (default_branch === null || default_branch === pushed.branch) return [];
  const [head = null] = await headsIn(repositoryOf(platform, project), [default_branch]);
  return head === null ? [] : [head];
};

/** Oldest first. */
const commitsOf = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
  limit: number,
): Promise<Commit[]> => {
  try {
    const not = await knownBefore(platform, project, pushed);
    const asked = { from: [pushed.new], not, skip: 0, limit };
    const { commits } = await repositoryOf(platform, project).ask('commits.list', asked);
    return commits.toReversed();
  } catch (error) {
    if (isGitFailure(error, 'missing')) return [];
    throw error;
  }
};

/** Those that merging a request here made: what their messages name, the request has named. */
const mergesOf = async ({ store }: Platform, { id }: Project, commits: Commit[]): Promise<Set<string>> => {
  const rows = await store.db
    .selectFrom('merge_requests')
    .select('merge_commit_sha')
    .where('project_id', '=', id)
    .where(
      'merge_commit_sha',
      'in',
      commits.map((commit) => commit.id),
    )
    .execute();
  return new Set(rows.flatMap(({ merge_commit_sha }) => merge_commit_sha ?? []));
};

type Reading = { project: Project; author: { id: number; viewer: Viewer }; isDefault: boolean };

/** @returns ids of the issues that it says it closes, which need no other note */
const closeBy = async (
  platform: Platform,
  { project, author, isDefault }: Reading,
  { id: sha, message }: Commit,
) => {
  const { store } = platform;
  const issues = isDefault ? await closingIssuesOf(platform, store.db, project, { text: message }) : [];
  const cause = { user: { id: author.id }, sudo_by_id: null };
  if (issues.length > 0) await store.write(async (tx) => await closeAs(tx, cause, issues, () => ({ sha })));
  return new Set(issues.map(({ id }) => id));
};

const read = async (
  platform: Platform,
  reading: Reading,
  commit: Commit,
  isMerge: boolean,
): Promise<void> => {
  const except = await closeBy(platform, reading, commit);
  const { project, author } = reading;
  if (isMerge || !mayReferTo(commit.message)) return;
  const by = { type: 'Commit' as const, sha: commit.id };
  const baseUrl = platform.config.external_url ?? '';
  await platform.store.write(
    async (tx) => await noteMentions(tx, { by, project, text: commit.message, author, baseUrl, except }),
  );
};

/**
 * Reads the commits that came to a branch, in the name of who pushed them: their authors are what he says they are.
 * Those of the default branch close issues.
 * @param budget how many commits may be read
 * @returns what is left of it
 */
export const followCommits = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
  budget: number,
): Promise<number> => {
  const { user_id, branch } = pushed;
  const isDefault = branch === project.default_branch;
  const limit = isDefault ? mostReadCommits : budget;
  if (user_id === null || pushed.new === zeroOid || limit === 0) return budget;
  const commits = await commitsOf(platform, project, pushed, limit);
  const left = Math.max(0, budget - Math.max(1, commits.length));
  if (commits.length === 0) return left;
  const viewer = await actingViewer(platform.store.db, user_id, platform.clock.now());
  if (viewer === null) return left;
  const merges = await mergesOf(platform, project, commits);
  const reading = { project, author: { id: user_id, viewer }, isDefault };
  for (const commit of commits) {
    // oxlint-disable-next-line no-await-in-loop -- one small transaction after another
    await read(platform, reading, commit, merges.has(commit.id));
  }
  return left;
};
