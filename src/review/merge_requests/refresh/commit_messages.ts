/** Processes messages of pushed commits: closes issues and adds notes to what the messages mention. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type Commit, type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import { mayReferTo } from '../../../planning/issuables/text/references.ts';
import { addMentionNotes } from '../../../planning/notes/cross_references.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { closeIssuesAs, parseClosingIssues } from '../issues/closing_references.ts';
import { readBranchHeads } from './branch_heads.ts';
import type { PushedBranch } from './refresh_target.ts';

/** Maximum number of commits read per push, the newest of each branch first. */
export const maxReadCommits = 100;

/** Returns the commits that existed before the push; for a new branch, the commits of the default branch. */
const findPreviousHeads = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
): Promise<Oid[]> => {
  const { default_branch } = project;
  if (pushed.old !== zeroOid) return [pushed.old];
  if (default_branch === null || default_branch === pushed.branch) return [];
  const [head = null] = await readBranchHeads(getRepository(platform, project), [default_branch]);
  return head === null ? [] : [head];
};

/** Loads the pushed commits, oldest first. */
const listPushedCommits = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
  limit: number,
): Promise<Commit[]> => {
  try {
    const not = await findPreviousHeads(platform, project, pushed);
    const query = { from: [pushed.new], not, skip: 0, limit };
    const { commits } = await getRepository(platform, project).ask('commits.list', query);
    return commits.toReversed();
  } catch (error) {
    if (isGitFailure(error, 'missing')) return [];
    throw error;
  }
};

/** Returns ids of commits made by merging here. Their requests already processed the same references. */
const findMergeCommits = async (
  { store }: Platform,
  { id }: Project,
  commits: Commit[],
): Promise<Set<string>> => {
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

/** @returns ids of the issues that the message closes, which need no mention note */
const closeReferencedIssues = async (
  platform: Platform,
  { project, author, isDefault }: Reading,
  { id: sha, message }: Commit,
) => {
  const { store } = platform;
  const issues = isDefault ? await parseClosingIssues(platform, store.db, project, { text: message }) : [];
  const cause = { user: { id: author.id }, sudo_by_id: null };
  if (issues.length > 0)
    await store.write(async (tx) => await closeIssuesAs(tx, cause, issues, () => ({ sha })));
  return new Set(issues.map(({ id }) => id));
};

const processMessage = async (
  platform: Platform,
  reading: Reading,
  commit: Commit,
  isMerge: boolean,
): Promise<void> => {
  const except = await closeReferencedIssues(platform, reading, commit);
  const { project, author } = reading;
  if (isMerge || !mayReferTo(commit.message)) return;
  const by = { type: 'Commit' as const, sha: commit.id };
  const baseUrl = platform.config.external_url ?? '';
  await platform.store.write(
    async (tx) => await addMentionNotes(tx, { by, project, text: commit.message, author, baseUrl, except }),
  );
};

/**
 * Processes the new commits of a branch on behalf of the pusher, because commit authors are unverified. Commits on the
 * default branch close issues.
 * @param budget how many commits may be read
 * @returns the remaining budget
 */
export const processCommitMessages = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
  budget: number,
): Promise<number> => {
  const { user_id, branch } = pushed;
  const isDefault = branch === project.default_branch;
  const limit = isDefault ? maxReadCommits : budget;
  if (user_id === null || pushed.new === zeroOid || limit === 0) return budget;
  const commits = await listPushedCommits(platform, project, pushed, limit);
  const remaining = Math.max(0, budget - Math.max(1, commits.length));
  if (commits.length === 0) return remaining;
  const viewer = await loadActingViewer(platform.store.db, user_id, platform.clock.now());
  if (viewer === null) return remaining;
  const merges = await findMergeCommits(platform, project, commits);
  const reading = { project, author: { id: user_id, viewer }, isDefault };
  for (const commit of commits) {
    await processMessage(platform, reading, commit, merges.has(commit.id));
  }
  return remaining;
};
