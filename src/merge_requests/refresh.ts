/** What follows refs that moved, whoever moved them: nobody waits for it, and all of it may be done twice. */
import type { Platform } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Commit, zeroOid } from '../git/protocol_types.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import type { RefsMoved } from '../repository/refs_moved.ts';
import { branchPrefix } from '../repository/resolve.ts';
import { closeAs, closingIssuesOf } from './closing.ts';
import { refreshSource } from './refresh_source.ts';
import { type PushedBranch, refreshTarget } from './refresh_target.ts';

/** Of one push, the newest. */
const mostReadCommits = 100;

const commitsOf = async (
  platform: Platform,
  project: Project,
  { old, new: now }: PushedBranch,
): Promise<Commit[]> => {
  const not = old === zeroOid ? [] : [old];
  try {
    const { commits } = await repositoryOf(platform, project).ask('commits.list', {
      from: [now],
      not,
      skip: 0,
      limit: mostReadCommits,
    });
    return commits.toReversed();
  } catch (error) {
    if (isGitFailure(error, 'missing')) return [];
    throw error;
  }
};

/** Commits that came to the default branch close the issues that they say they do, as far as who pushed them may. */
const closeByCommits = async (platform: Platform, project: Project, pushed: PushedBranch): Promise<void> => {
  const { user_id, branch } = pushed;
  if (user_id === null || branch !== project.default_branch || pushed.new === zeroOid) return;
  const { store } = platform;
  const cause = { user: { id: user_id }, sudo_by_id: null };
  for (const { id: sha, message } of await commitsOf(platform, project, pushed)) {
    // oxlint-disable-next-line no-await-in-loop -- one small transaction after another
    const issues = await closingIssuesOf(platform, store.db, project, { text: message });
    if (issues.length === 0) continue;
    // oxlint-disable-next-line no-await-in-loop
    await store.write(async (tx) => await closeAs(tx, cause, issues, () => ({ sha })));
  }
};

/** Listens to the work `repository.refs_moved`. */
export const refreshMergeRequests = async (
  platform: Platform,
  { project_id, user_id, updates }: RefsMoved,
): Promise<void> => {
  const branches = updates.filter(({ ref }) => ref.startsWith(branchPrefix));
  for (const { ref, old, new: now } of branches) {
    const branch = ref.slice(branchPrefix.length);
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const project = await loadProject(platform.store.db, project_id);
    if (project === null) return;
    const pushed: PushedBranch = { branch, old: old ?? zeroOid, new: now, user_id };
    // oxlint-disable-next-line no-await-in-loop
    await refreshTarget(platform, project, pushed);
    // oxlint-disable-next-line no-await-in-loop
    await refreshSource(platform, {
      project_id,
      user_id,
      branch,
      isNew: old === zeroOid,
      isGone: now === zeroOid,
    });
    // oxlint-disable-next-line no-await-in-loop
    await closeByCommits(platform, project, pushed);
  }
};
