/** Approvals: who has said that a merge request is good. They decide nothing. */
import { type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Reader, Tx } from '../db/open.ts';
import { conflict, notFound, unauthorized } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { addSystemNotes } from '../notes/system.ts';
import { finishTodos } from '../todos/add.ts';
import { type FoundMergeRequest, lockMergeRequest, reloadMergeRequest } from './find.ts';
import { mergeRequestNoun } from './noun.ts';
import { setReviewerState } from './reviewers.ts';

export type Approval = { user_id: number; created_at: number };

/** More of one merge request are not shown. */
const most = 100;

/** Of a merge request, the oldest first. */
export const approvalsOf = async (db: Reader, mergeRequestId: number): Promise<Approval[]> =>
  await db
    .selectFrom('merge_request_approvals')
    .select(['user_id', 'created_at'])
    .where('merge_request_id', '=', mergeRequestId)
    .orderBy('created_at')
    .orderBy('user_id')
    .limit(most)
    .execute();

/** Whether the caller may approve it, if he has not yet. */
export const mayApprove = ({ viewer }: Call, { merge_request, project }: FoundMergeRequest): boolean =>
  merge_request.state === 'opened' && may(viewer, 'approve_merge_request', project);

/** Tells of it, in its transaction, and answers the merge request as it is then. */
const follow = async (
  tx: Tx,
  call: Call,
  { project, target }: FoundMergeRequest,
  { state, text }: { state: 'approved' | 'unapproved'; text: string },
): Promise<FoundMergeRequest> => {
  const actor = actorOf(call);
  await setReviewerState(tx, target, actor.user.id, { state });
  await mergeRequestNoun.change(tx, target, { updated_at: tx.now });
  await addSystemNotes(tx, actor.user.id, target, [text]);
  await finishTodos(tx, actor.user.id, target);
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
 * @param sha its head, as the caller has looked at it
 * @throws Failure 401 for who may not, or has already; 409 where the head is another one
 */
export const approve = async (
  call: Call,
  { project, merge_request }: FoundMergeRequest,
  sha: string | undefined,
): Promise<FoundMergeRequest> => {
  const { user } = actorOf(call);
  return await call.write(async (tx) => {
    const found = await lockMergeRequest(tx, project, merge_request.id);
    if (!mayApprove(call, found)) throw unauthorized();
    const { head_sha } = found.merge_request;
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
    return await follow(tx, call, found, { state: 'approved', text: 'approved this merge request' });
  });
};

/**
 * Takes the caller's approval back.
 * @throws Failure 401 for who may not approve, 404 where there is none of his
 */
export const unapprove = async (
  call: Call,
  { project, merge_request }: FoundMergeRequest,
): Promise<FoundMergeRequest> => {
  const { user } = actorOf(call);
  return await call.write(async (tx) => {
    const found = await lockMergeRequest(tx, project, merge_request.id);
    if (!mayApprove(call, found)) throw unauthorized();
    const gone = await tx.db
      .deleteFrom('merge_request_approvals')
      .where('merge_request_id', '=', merge_request.id)
      .where('user_id', '=', user.id)
      .returning('user_id')
      .executeTakeFirst();
    if (gone === undefined) throw notFound();
    return await follow(tx, call, found, { state: 'unapproved', text: 'unapproved this merge request' });
  });
};
