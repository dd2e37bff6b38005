import type { Platform } from '../access/call.ts';
import type { WorkHandler } from '../queue/queue.ts';
import { followVersion, versionWork } from './follow_version.ts';
import { rebaseRequest, rebaseWork } from './rebase.ts';
import { type RemoveSource, removeSourceBranch, removeSourceWork } from './source_branch.ts';

/** @param followNew told of each new version, too */
export const mergeRequestWork = (
  platform: Platform,
  followNew: (mergeRequestId: number) => Promise<void>,
): { [name: string]: WorkHandler } => ({
  [versionWork]: async ({ merge_request_id }) => {
    await followVersion(platform, Number(merge_request_id));
    await followNew(Number(merge_request_id));
  },
  [removeSourceWork]: async (payload) => await removeSourceBranch(platform, payload as RemoveSource),
  [rebaseWork]: async ({ merge_request_id, user_id }) =>
    await rebaseRequest(platform, { merge_request_id: Number(merge_request_id), user_id: Number(user_id) }),
});
