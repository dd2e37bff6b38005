/** Updates merge requests after refs have moved. Runs in the background; idempotent. */
import type { Platform } from '../../../core/platform.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import type { RefsMoved } from '../../../code/repository/refs/refs_moved.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import { processCommitMessages, maxReadCommits } from './commit_messages.ts';
import { refreshSource } from './refresh_source.ts';
import { type PushedBranch, refreshTarget } from './refresh_target.ts';
import { retargetStacked } from '../stacks/retarget_stacked.ts';

/** Handles the background work `repository.refs_moved`. */
export const refreshMergeRequests = async (
  platform: Platform,
  { project_id, user_id, updates, moved_at }: RefsMoved,
): Promise<void> => {
  const branches = updates.filter(({ ref }) => ref.startsWith(branchPrefix));
  let commitsLeftToRead = maxReadCommits;
  for (const { ref, old, new: newOid } of branches) {
    const branch = ref.slice(branchPrefix.length);
    const project = await loadProject(platform.store.db, project_id);
    if (project === null) return;
    const pushed: PushedBranch = { branch, old: old ?? zeroOid, new: newOid, user_id };
    await refreshTarget(platform, project, pushed);
    await retargetStacked(platform, project, pushed);
    await refreshSource(platform, {
      project_id,
      user_id,
      branch,
      isNew: old === zeroOid,
      isGone: newOid === zeroOid,
      moved_at,
    });
    commitsLeftToRead = await processCommitMessages(platform, project, pushed, commitsLeftToRead);
  }
};
