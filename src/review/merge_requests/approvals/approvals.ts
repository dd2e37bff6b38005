/** Stores approvals of merge requests. Approvals are informative: merging does not require any. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { conflict, notFound, unauthorized } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { enqueueAutoMerge } from '../../../planning/issuables/auto_merge_work.ts';
import { addSystemNotes } from '../../../planning/notes/add_system_notes.ts';
import { finishTodos } from '../../../planning/todos/add_todos.ts';
import { type LoadedMergeRequest, lockMergeRequest, reloadMergeRequest } from '../find.ts';
import { mergeRequestNoun } from '../noun.ts';
import { storeReview } from './last_review.ts';
import { addReviewer, setReviewerState } from './reviewers.ts';

export type Approval = { user_id: number; created_at: number };

/** Maximum number of approvals shown per merge request. */
const maxShownApprovals = 100;

const selectApprovals = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('merge_request_approvals')
    .select(['user_id', 'created_at'])
    .where('merge_request_id', '=', id)
    .orderBy('created_at')
    .orderBy('user_id')
    .limit(maxShownApprovals)
    .compile(),
);

/** Loads the approvals of a merge request, oldest first. */
export const loadApprovals = async (db: Reader, mergeRequestId: number): Promise<Approval[]> =>
  await selectApprovals(db, { id: mergeRequestId });

/** Returns whether the caller may approve, regardless of an existing approval. */
export const mayApprove = ({ viewer }: Call, { merge_request, project }: LoadedMergeRequest): boolean =>
  merge_request.state === 'opened' && may(viewer, 'approve_merge_request', project);

/** Records the effects of an approval or its removal in the same transaction. Returns the updated merge request. */
const recordApproval = async (
  tx: Tx,
  call: Call,
  { project, target }: LoadedMergeRequest,
  verdict: {
    state: 'approved' | 'unapproved' | 'requested_changes';
    text: string;
    /** The head that was reviewed; absent: this is no review. */
    head?: string | null;
  },
): Promise<LoadedMergeRequest> => {
  const actor = requireActor(call);
  const { state, text, head = null } = verdict;
  await setReviewerState(tx, target, actor.user.id, { state });
  await storeReview(tx, target, { user_id: actor.user.id, head });
  await mergeRequestNoun.change(tx, target, { updated_at: tx.now });
  await addSystemNotes(tx, actor.user.id, target, [text]);
  await finishTodos(tx, actor.user.id, target);
  if (state === 'approved') await enqueueAutoMerge(tx, target.id);
  await recordEvent(tx, actor, {
    kind: `merge_request.${state}`,
    project_id: project.id,
    target_type: 'MergeRequest',
    target_id: target.id,
  });
  return await reloadMergeRequest(tx.db, project, target.id);
};

/**
 * Approves a merge request as the caller.
 * @param sha the head that the caller reviewed
 * @throws Failure 401 if the caller may not approve or has already approved; 409 if the head has changed
 */
export const approve = async (
  call: Call,
  { project, merge_request }: LoadedMergeRequest,
  sha: string | undefined,
): Promise<LoadedMergeRequest> => {
  const { user } = requireActor(call);
  return await call.write(async (tx) => {
    const loaded = await lockMergeRequest(tx, project, merge_request.id);
    if (!mayApprove(call, loaded)) throw unauthorized();
    const { head_sha } = loaded.merge_request;
    if (sha !== undefined && sha !== '' && sha !== head_sha) {
      throw conflict('SHA does not match HEAD of source branch');
    }
    const added = await tx.db
      .insertInto('merge_request_approvals')
      .values({ merge_request_id: merge_request.id, user_id: user.id, created_at: tx.now })
      .onConflict((clash) => clash.doNothing())
      .returning('user_id')
      .executeTakeFirst();
    if (added === undefined) throw unauthorized();
    return await recordApproval(tx, call, loaded, {
      state: 'approved',
      text: 'approved this merge request',
      head: head_sha,
    });
  });
};

/** Deletes the approval of a user. Returns whether there was one. */
const deleteApproval = async (tx: Tx, mergeRequestId: number, userId: number): Promise<boolean> => {
  const { numDeletedRows } = await tx.db
    .deleteFrom('merge_request_approvals')
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Text of the system note. */
export const changesRequestedText = 'requested changes';

/**
 * Requests changes as the caller, who becomes a reviewer. That blocks the merge until they approve, or their review is
 * requested again. Takes back their approval.
 * @param sha the head that the caller reviewed; empty: the present one
 * @throws Failure 401 if the caller may not approve
 */
export const requestChanges = async (
  call: Call,
  { project, merge_request }: LoadedMergeRequest,
  sha: string,
): Promise<LoadedMergeRequest> => {
  const { user } = requireActor(call);
  return await call.write(async (tx) => {
    const loaded = await lockMergeRequest(tx, project, merge_request.id);
    if (!mayApprove(call, loaded)) throw unauthorized();
    await deleteApproval(tx, merge_request.id, user.id);
    await addReviewer(tx, loaded.target, user.id);
    return await recordApproval(tx, call, loaded, {
      state: 'requested_changes',
      text: changesRequestedText,
      head: sha || loaded.merge_request.head_sha,
    });
  });
};

/**
 * Removes all approvals.
 * @throws Failure 401 if the caller may not approve
 */
export const resetApprovals = async (
  call: Call,
  { project, merge_request }: LoadedMergeRequest,
): Promise<void> =>
  await call.write(async (tx) => {
    const loaded = await lockMergeRequest(tx, project, merge_request.id);
    if (!may(call.viewer, 'approve_merge_request', project)) throw unauthorized();
    const deleted = await tx.db
      .deleteFrom('merge_request_approvals')
      .where('merge_request_id', '=', merge_request.id)
      .returning('user_id')
      .execute();
    if (deleted.length === 0) return;
    for (const { user_id } of deleted)
      await setReviewerState(tx, loaded.target, user_id, { state: 'unapproved' });
    await mergeRequestNoun.change(tx, loaded.target, { updated_at: tx.now });
    await recordEvent(tx, requireActor(call), {
      kind: 'merge_request.approvals_reset',
      project_id: project.id,
      target_type: 'MergeRequest',
      target_id: merge_request.id,
      data: { user_ids: deleted.map(({ user_id }) => user_id) },
    });
  });

/**
 * Removes the approval of the caller.
 * @throws Failure 401 if the caller may not approve, 404 if the caller has not approved
 */
export const unapprove = async (
  call: Call,
  { project, merge_request }: LoadedMergeRequest,
): Promise<LoadedMergeRequest> => {
  const { user } = requireActor(call);
  return await call.write(async (tx) => {
    const loaded = await lockMergeRequest(tx, project, merge_request.id);
    if (!mayApprove(call, loaded)) throw unauthorized();
    if (!(await deleteApproval(tx, merge_request.id, user.id))) throw notFound();
    return await recordApproval(tx, call, loaded, {
      state: 'unapproved',
      text: 'unapproved this merge request',
    });
  });
};
