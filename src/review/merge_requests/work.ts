import type { Platform } from '../../core/platform.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { autoMergeWork } from '../../planning/issuables/auto_merge_work.ts';
import { waitingMergesWork } from '../../projects/projects/enqueue_waiting_merges.ts';
import { mergeIfReady } from './merging/scheduled/auto_merge.ts';
import { checkMergesOfGroup, checkMergesOfProject } from './merging/scheduled/check_waiting_merges.ts';
import { followVersion, versionWork } from './versions/follow_version.ts';
import { rebaseRequest, rebaseWork } from './merging/rebase.ts';
import { type RemoveSource, removeSourceBranch, removeSourceWork } from './merging/remove_source_branch.ts';

/** Returns the handlers of background work. @param followNew runs after each new version, too */
export const mergeRequestWork = (
  platform: Platform,
  followNew: (mergeRequestId: number) => Promise<void>,
): { [name: string]: WorkHandler } => ({
  [versionWork]: async ({ merge_request_id }) => {
    await followVersion(platform, Number(merge_request_id));
    await followNew(Number(merge_request_id));
  },
  [autoMergeWork]: async ({ request_id }) => await mergeIfReady(platform, Number(request_id)),
  [waitingMergesWork]: async ({ project_id, group_id }) =>
    group_id === undefined
      ? await checkMergesOfProject(platform, Number(project_id))
      : await checkMergesOfGroup(platform, Number(group_id)),
  [removeSourceWork]: async (payload) => await removeSourceBranch(platform, payload as RemoveSource),
  [rebaseWork]: async ({ merge_request_id, user_id, skip_ci }) =>
    await rebaseRequest(platform, {
      merge_request_id: Number(merge_request_id),
      user_id: Number(user_id),
      skip_ci: skip_ci === true,
    }),
});
