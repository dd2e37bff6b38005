/** Removes the branch that a merged request came from, where that was asked for and may be done. */
import { actingViewer } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { loadProject } from '../projects/find.ts';
import { moveRefs } from '../repository/move_refs.ts';
import { repositoryOf } from '../repository/open.ts';
import { isProtected, mayPushTo, protectedBranches } from '../repository/protected.ts';
import { branchPrefix, findRef } from '../repository/resolve.ts';

/** Background work: payload `{ merge_request_id, user_id, sha }`. */
export const removeSourceWork = 'merge_requests.remove_source_branch';

export type RemoveSource = { merge_request_id: number; user_id: number; sha: string };

/** Never a protected or the default branch, only where the remover may push, and only as it was merged. */
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
  const viewer = await actingViewer(store.db, user_id, clock.now());
  if (project === null || viewer === null || project.default_branch === row.source_branch) return;
  const rules = await protectedBranches(store.db, project.id);
  if (isProtected(rules, row.source_branch) || !mayPushTo(viewer, project, rules, row.source_branch)) return;
  const ref = branchPrefix + row.source_branch;
  const present = await findRef(repositoryOf(platform, project), ref);
  if (present?.target !== sha) return;
  try {
    await moveRefs(platform, {
      project,
      cause: { user: { id: user_id }, sudo_by_id: null },
      kind: 'branch',
      updates: [{ ref, old: sha, new: zeroOid }],
    });
  } catch (error) {
    // Somebody pushed to it meanwhile: it stays.
    if (!isGitFailure(error, 'conflict')) throw error;
  }
};
