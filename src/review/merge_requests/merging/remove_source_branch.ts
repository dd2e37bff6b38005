/** Deletes the source branch of a merged request, if requested and allowed. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { moveRefs } from '../../../code/repository/refs/move_refs.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { isProtected, mayPushTo, loadProtectedBranches } from '../../../code/repository/protection/rules.ts';
import { branchPrefix, findRef } from '../../../code/repository/refs/resolve.ts';

/** Background work: payload `{ merge_request_id, user_id, sha }`. */
export const removeSourceWork = 'merge_requests.remove_source_branch';

export type RemoveSource = { merge_request_id: number; user_id: number; sha: string };

/** Deletes the branch unless it is protected, the default branch, not writable by the user, or moved since the merge. */
export const removeSourceBranch = async (
  platform: Platform,
  { merge_request_id, user_id, sha }: RemoveSource,
): Promise<void> => {
  const { store, clock } = platform;
  const row = await store.db
    .selectFrom('merge_requests')
    .select(['source_project_id', 'source_branch', 'state'])
    .where('id', '=', merge_request_id)
    .executeTakeFirst();
  if (row === undefined || row.source_project_id === null || row.state !== 'merged') return;
  const project = await loadProject(store.db, row.source_project_id);
  const viewer = await loadActingViewer(store.db, user_id, clock.now());
  if (project === null || viewer === null || project.default_branch === row.source_branch) return;
  const rules = await loadProtectedBranches(store.db, project.id);
  if (isProtected(rules, row.source_branch) || !mayPushTo(viewer, project, rules, row.source_branch)) return;
  const ref = branchPrefix + row.source_branch;
  const present = await findRef(getRepository(platform, project), ref);
  if (present?.target !== sha) return;
  try {
    await moveRefs(platform, {
      project,
      cause: { user: { id: user_id }, sudo_by_id: null },
      kind: 'branch',
      updates: [{ ref, old: sha, new: zeroOid }],
    });
  } catch (error) {
    // A concurrent push moved the branch: keep it.
    if (!isGitFailure(error, 'conflict')) throw error;
  }
};
