/** Finds where the target branch of a merge request was merged: it may have been the one below in a stack. */
import type { Reader } from '../../../platform/db/open.ts';
import { isProtected, loadProtectedBranches } from '../../../code/repository/protection/rules.ts';
import type { LoadedMergeRequest } from '../find.ts';

/** The merge request that merged a branch last, and the branch it went into. */
export type MergedInto = { iid: number; target_branch: string };

/** Returns the last merge of a branch within a project; undefined if it was never merged. */
export const findMergedInto = async (
  db: Reader,
  { id }: { id: number },
  branch: string,
): Promise<MergedInto | undefined> =>
  await db
    .selectFrom('merge_requests')
    .select(['iid', 'target_branch'])
    .where('project_id', '=', id)
    .where('source_project_id', '=', id)
    .where('source_branch', '=', branch)
    .where('state', '=', 'merged')
    .where('deleted_at', 'is', null)
    .orderBy('merged_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/**
 * Returns the merge of the target branch of an open request, after which a merge into that branch goes nowhere. Null for
 * the default branch and protected branches, which live on after a merge.
 */
export const findMergedTarget = async (
  db: Reader,
  { merge_request, project }: Pick<LoadedMergeRequest, 'merge_request' | 'project'>,
): Promise<MergedInto | null> => {
  const { state, target_branch, source_branch, source_project_id } = merge_request;
  if (state !== 'opened' || target_branch === project.default_branch) return null;
  if (isProtected(await loadProtectedBranches(db, project.id), target_branch)) return null;
  const merged = await findMergedInto(db, project, target_branch);
  const isOwnSource = source_project_id === project.id && merged?.target_branch === source_branch;
  return merged === undefined || isOwnSource || merged.target_branch === target_branch ? null : merged;
};
