/** Maintains `refs/merge-requests/<iid>/merge`: a trial merge commit of the source into the target branch. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { type Failure, refused } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { getGitIdentity } from '../../../code/repository/refs/git_identity.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { findRef } from '../../../code/repository/refs/resolve.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { mergeRefName } from '../versions/head_ref.ts';
import { loadBranches, readHeads } from '../refresh/branch_heads.ts';

const notMergeable = (): Failure => refused('Merge request is not mergeable');

type Ends = { ours: Oid; theirs: Oid };

/** Returns the commit the ref points to, if it is a merge of these two heads. */
const findExistingMerge = async (
  repository: Repository,
  ref: string,
  { ours, theirs }: Ends,
): Promise<Oid | null> => {
  const commit = (await findRef(repository, ref))?.commit ?? null;
  if (commit === null) return null;
  const [existing] = (await repository.ask('commits.get', { ids: [commit] })).commits;
  return existing?.parents.join() === [ours, theirs].join() ? commit : null;
};

/** Builds the trial merge; null on conflicts, oversized changes, or if source commits are not fetched yet. */
const createMerge = async (call: Call, repository: Repository, ends: Ends): Promise<Oid | null> => {
  const signature = getGitIdentity(call, requireUser(call));
  const { ours, theirs } = ends;
  const message = `Merge commit ${theirs} into ${ours}`;
  try {
    const made = await repository.ask('merge.commit', {
      ...ends,
      message,
      author: signature,
      committer: signature,
    });
    return made?.id ?? null;
  } catch (error) {
    if (isGitFailure(error, 'missing') || isGitFailure(error, 'too_large')) return null;
    throw error;
  }
};

/**
 * Creates or updates the ref unless it already matches the current heads.
 * @returns the id of the merge commit
 * @throws Failure 400 if the request is not open or cannot be merged
 */
export const updateMergeRef = async (
  call: Call,
  { project, merge_request }: LoadedMergeRequest,
): Promise<Oid> => {
  const { platform, db } = call;
  if (merge_request.state !== 'opened') throw notMergeable();
  const heads = await readHeads(platform, await loadBranches(db, merge_request, project));
  const { source_sha: theirs, target_sha: ours } = heads;
  if (theirs === null || ours === null) throw notMergeable();
  const repository = getRepository(platform, project);
  const ref = mergeRefName(merge_request.iid);
  const present = await findExistingMerge(repository, ref, { ours, theirs });
  if (present !== null) return present;
  const made = await createMerge(call, repository, { ours, theirs });
  if (made === null) throw notMergeable();
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: made }] });
  return made;
};
