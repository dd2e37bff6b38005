/** `refs/merge-requests/<iid>/merge`: what the target branch would be, were the request merged now. */
import { type Call, userOf } from '../access/call.ts';
import { type Failure, refused } from '../errors.ts';
import type { Oid } from '../git/protocol_types.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Repository } from '../git/repository.ts';
import { signatureOf } from '../repository/change_refs.ts';
import { repositoryOf } from '../repository/open.ts';
import { findRef } from '../repository/resolve.ts';
import type { FoundMergeRequest } from './find.ts';
import { mergeRefOf } from './head_ref.ts';
import { branchesOf, readHeads } from './heads.ts';

const notMergeable = (): Failure => refused('Merge request is not mergeable');

type Ends = { ours: Oid; theirs: Oid };

/** What the ref names already, if that is a merge of these two. */
const madeBefore = async (
  repository: Repository,
  ref: string,
  { ours, theirs }: Ends,
): Promise<Oid | null> => {
  const commit = (await findRef(repository, ref))?.commit ?? null;
  if (commit === null) return null;
  const [found] = (await repository.ask('commits.get', { ids: [commit] })).commits;
  return found?.parents.join() === [ours, theirs].join() ? commit : null;
};

/** null: conflicts, changes too large to merge, or the source's newest commits have not come yet. */
const make = async (call: Call, repository: Repository, ends: Ends): Promise<Oid | null> => {
  const signature = signatureOf(call, userOf(call));
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
 * Makes the ref, where it is not there for the branches as they are.
 * @returns the commit
 * @throws Failure 400 for a request that is not open or cannot be merged
 */
export const mergeRef = async (call: Call, { project, merge_request }: FoundMergeRequest): Promise<Oid> => {
  const { platform, db } = call;
  if (merge_request.state !== 'opened') throw notMergeable();
  const heads = await readHeads(platform, await branchesOf(db, merge_request, project));
  const { source_sha: theirs, target_sha: ours } = heads;
  if (theirs === null || ours === null) throw notMergeable();
  const repository = repositoryOf(platform, project);
  const ref = mergeRefOf(merge_request.iid);
  const present = await madeBefore(repository, ref, { ours, theirs });
  if (present !== null) return present;
  const made = await make(call, repository, { ours, theirs });
  if (made === null) throw notMergeable();
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: made }] });
  return made;
};
