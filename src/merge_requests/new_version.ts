/** A new version of an open request, with what follows it at once. */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import type { FoundMergeRequest } from './find.ts';
import { reloadMergeRequest } from './find.ts';
import type { Branches, Heads } from './heads.ts';
import { storeClosingIssues } from './closing.ts';
import { writeUnlessMerging } from './merging.ts';
import { type PreparedVersion, insertVersion, prepareVersion } from './versions.ts';

/** Whether these commits are what the latest version was made of. */
const isSame = (
  { merge_request: { head_sha, base_sha, start_sha } }: FoundMergeRequest,
  prepared: PreparedVersion,
): boolean =>
  head_sha === prepared.head_commit_sha &&
  base_sha === prepared.base_commit_sha &&
  start_sha === prepared.start_commit_sha;

export type NewVersion = {
  before: FoundMergeRequest;
  after: FoundMergeRequest;
  prepared: PreparedVersion;
};

/** What else changes with a version, in its transaction. */
type Follow = (tx: Tx, version: NewVersion) => Promise<void>;

/**
 * Looks at the branches and stores a version of them, unless the latest one is the same already, or the request is not
 * open any more.
 * @returns null: nothing was stored
 */
export const storeNewVersion = async (
  platform: Platform,
  { merge_request, project }: FoundMergeRequest,
  branches: Branches & { heads?: Heads },
  follow?: Follow,
): Promise<NewVersion | null> => {
  const prepared = await prepareVersion(platform, { ...branches, previous_sha: merge_request.head_sha });
  if (prepared === null) return null;
  return await writeUnlessMerging(platform, merge_request, async (tx) => {
    const before = await reloadMergeRequest(tx.db, project, merge_request.id);
    const { state, deleted_at, target_branch } = before.merge_request;
    const isOpen = state === 'opened' && deleted_at === null && target_branch === branches.target_branch;
    if (!isOpen || isSame(before, prepared)) return null;
    await insertVersion(tx, merge_request, prepared);
    const after = await reloadMergeRequest(tx.db, project, merge_request.id);
    await storeClosingIssues(platform, tx, after);
    const version = { before, after, prepared };
    await follow?.(tx, version);
    return version;
  });
};
