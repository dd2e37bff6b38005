/**
 * When the source branch of a merged merge request is deleted, retargets the open merge requests into that branch to
 * where it was merged.
 */
import { openCallWithoutRequest } from '../../../core/access/call_without_request.ts';
import type { Platform } from '../../../core/platform.ts';
import { Failure } from '../../../platform/errors.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { mergeRequestNoun } from '../noun.ts';
import { readBranchHeads } from '../refresh/branch_heads.ts';
import { loadOpenInto, loadRequest } from '../refresh/open_requests.ts';
import type { PushedBranch } from '../refresh/refresh_target.ts';
import { updateMergeRequest } from '../update.ts';
import { findMergedInto } from './merged_target.ts';

/**
 * Retargets the open merge requests whose target branch was deleted to the branch it was merged into, on behalf of the
 * user who deleted it. Those that cannot be retargeted keep their target. Idempotent.
 */
export const retargetStacked = async (
  platform: Platform,
  project: Project,
  { branch, new: newOid, user_id }: PushedBranch,
): Promise<void> => {
  const { db } = platform.store;
  if (newOid !== zeroOid || user_id === null) return;
  const requests = await loadOpenInto(db, project.id, branch);
  if (requests.length === 0) return;
  const merged = await findMergedInto(db, project, branch);
  const [head] = await readBranchHeads(getRepository(platform, project), [branch]);
  if (merged === undefined || head !== null) return;
  const cause = { user: { id: user_id }, sudo_by_id: null };
  const call = await openCallWithoutRequest(platform, { cause, baseUrl: platform.baseUrl() });
  if (call === null) return;
  for (const request of requests) {
    const loaded = await loadRequest(db, request);
    if (loaded === null || loaded.merge_request.source_project_id !== project.id) continue;
    if (!mergeRequestNoun.mayUpdate(call, loaded)) continue;
    try {
      await updateMergeRequest(call, loaded, { target_branch: merged.target_branch });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
      platform.log.debug({ err: error, merge_request: request.id }, 'a merge request was not retargeted');
    }
  }
};
