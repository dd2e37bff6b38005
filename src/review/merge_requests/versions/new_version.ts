/** Stores a new version of an open request together with its immediate effects. */
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { reloadMergeRequest } from '../find.ts';
import type { Branches, Heads } from '../refresh/branch_heads.ts';
import { storeClosingIssues } from '../issues/closing_references.ts';
import { noScheduledMerge } from '../merging/scheduled/no_scheduled_merge.ts';
import { writeUnlessMerging } from '../merging/merge_lock.ts';
import { type PreparedVersion, insertVersion, prepareVersion } from './prepare_version.ts';

/** Returns whether the latest version was created from these commits. */
const isSame = (
  { merge_request: { head_sha, base_sha, start_sha } }: LoadedMergeRequest,
  prepared: PreparedVersion,
): boolean =>
  head_sha === prepared.head_commit_sha &&
  base_sha === prepared.base_commit_sha &&
  start_sha === prepared.start_commit_sha;

export type NewVersion = {
  before: LoadedMergeRequest;
  after: LoadedMergeRequest;
  prepared: PreparedVersion;
};

/** Further changes made in the transaction that stores the version. */
type Follow = (tx: Tx, version: NewVersion) => Promise<void>;

/**
 * Compares the branches and stores a version, unless the latest version is equal or the request is no longer open.
 * @returns null if nothing was stored
 */
export const storeNewVersion = async (
  platform: Platform,
  { merge_request, project }: LoadedMergeRequest,
  branches: Branches & { heads?: Heads; pushed_by_id?: number | null },
  follow?: Follow,
): Promise<NewVersion | null> => {
  const prepared = await prepareVersion(platform, { ...branches, previous_sha: merge_request.head_sha });
  if (prepared === null) return null;
  return await writeUnlessMerging(platform, merge_request, async (tx) => {
    const before = await reloadMergeRequest(tx.db, project, merge_request.id);
    const { state, deleted_at, target_branch } = before.merge_request;
    const isOpen = state === 'opened' && deleted_at === null && target_branch === branches.target_branch;
    if (!isOpen || isSame(before, prepared)) return null;
    // A scheduled merge applied to the previous commits, regardless of which code noticed the new commits first.
    if (before.merge_request.head_sha !== prepared.head_commit_sha) {
      await tx.db
        .updateTable('merge_requests')
        .set(noScheduledMerge)
        .where('id', '=', merge_request.id)
        .where('merge_when_pipeline_succeeds', '=', 1)
        .execute();
    }
    await insertVersion(tx, merge_request, { prepared, pushed_by_id: branches.pushed_by_id ?? null });
    const after = await reloadMergeRequest(tx.db, project, merge_request.id);
    await storeClosingIssues(platform, tx, after);
    const version = { before, after, prepared };
    await follow?.(tx, version);
    return version;
  });
};
