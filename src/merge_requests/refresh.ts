/** What follows refs that moved, whoever moved them: nobody waits for it, and all of it may be done twice. */
import type { Platform } from '../access/call.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { loadProject } from '../projects/find.ts';
import type { RefsMoved } from '../repository/refs_moved.ts';
import { branchPrefix } from '../repository/resolve.ts';
import { followCommits, mostReadCommits } from './commit_messages.ts';
import { refreshSource } from './refresh_source.ts';
import { type PushedBranch, refreshTarget } from './refresh_target.ts';

/** Listens to the work `repository.refs_moved`. */
export const refreshMergeRequests = async (
  platform: Platform,
  { project_id, user_id, updates }: RefsMoved,
): Promise<void> => {
  const branches = updates.filter(({ ref }) => ref.startsWith(branchPrefix));
  let budget = mostReadCommits;
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
    budget = await followCommits(platform, project, pushed, budget);
  }
};
