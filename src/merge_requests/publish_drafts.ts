/** Makes comments of drafts. */
import { type Call, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import { createDiscussion, replyTo } from '../discussions/create.ts';
import { moveDiscussionPositions } from '../discussions/move_positions.ts';
import { findDiscussion } from '../discussions/queries.ts';
import { resolveNotes } from '../discussions/resolve.ts';
import { mayResolve } from '../discussions/rules.ts';
import { Failure } from '../errors.ts';
import { extractQuickActions } from '../issuables/quick_actions.ts';
import { actOn } from '../notes/act.ts';
import { positionOf } from '../notes/position.ts';
import { commentedMergeRequest as noun } from './act.ts';
import { type DraftNote, takeDraft } from './draft_notes.ts';
import type { FoundMergeRequest } from './find.ts';
import { setReviewerState } from './reviewers.ts';

/** As far as its author may, now. */
const resolve = async (call: Call, found: FoundMergeRequest, { discussion_id }: DraftNote): Promise<void> => {
  if (discussion_id === null || !mayResolve(call, found)) return;
  const { notes } = await findDiscussion(call, found.target, discussion_id);
  await resolveNotes(noun, call, found, { notes, resolved: true });
};

/** Of two who publish it, one takes it: in the transaction that makes the comment, or before it does anything. */
const take = async (call: Call, found: FoundMergeRequest, draft: DraftNote, body: string): Promise<void> => {
  const first = async (tx: { db: Call['db'] }): Promise<void> => await takeDraft(tx, draft);
  const { discussion_id } = draft;
  if (body === '') await call.write(first);
  else if (discussion_id !== null) await replyTo(noun, call, found, { body, first, discussion_id });
  else await createDiscussion(noun, call, found, { body, first, position: positionOf(draft.position) });
};

const publish = async (call: Call, found: FoundMergeRequest, draft: DraftNote): Promise<void> => {
  const { discussion_id, note } = draft;
  // Before all else, as for a comment: nothing is done for an answer to what is gone.
  if (discussion_id !== null) await findDiscussion(call, found.target, discussion_id);
  const { text } = extractQuickActions(note);
  await take(call, found, draft, text);
  try {
    await actOn(noun, call, found, note);
  } catch (error) {
    // Of nothing but actions, no comment was made: it stays a draft.
    if (text === '') await call.write(async (tx) => await insertRow(tx.db, 'draft_notes', draft));
    throw error;
  }
  if (draft.resolve_discussion === 1) await resolve(call, found, draft);
};

const isGone = (error: unknown): boolean => error instanceof Failure && error.kind === 'not_found';

/**
 * Publishes drafts one after another, the oldest first. What was published or deleted meanwhile is passed over, and so
 * is an answer whose discussion is gone: it stays a draft. A reviewer has reviewed it then.
 */
export const publishAll = async (
  call: Call,
  found: FoundMergeRequest,
  drafts: readonly DraftNote[],
): Promise<void> => {
  for (const draft of drafts) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await publish(call, found, draft).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }
  await followVersions(call, found, drafts);
  if (drafts.length === 0) return;
  const { id } = userOf(call);
  await call.write(async (tx) => {
    await setReviewerState(tx, found.target, id, { state: 'reviewed', from: 'unreviewed' });
  });
};

/** A line that was commented on in an older version is looked for in the newest. */
const followVersions = async (
  { platform }: Call,
  { project, merge_request }: FoundMergeRequest,
  drafts: readonly DraftNote[],
): Promise<void> => {
  const head = merge_request.head_sha;
  const isOld = drafts.some(({ position }) => position !== null && positionOf(position)?.head_sha !== head);
  if (isOld) await moveDiscussionPositions(platform, project, merge_request.id);
};

/** @throws Failure 404 for a draft that is gone, or an answer to what is */
export const publishOne = async (call: Call, found: FoundMergeRequest, draft: DraftNote): Promise<void> => {
  await publish(call, found, draft);
  await followVersions(call, found, [draft]);
};
