/** Publishes drafts as comments. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import { createDiscussion, addReply } from '../../../planning/discussions/create.ts';
import { moveDiscussionPositions } from '../../../planning/discussions/move_positions.ts';
import { findDiscussion } from '../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../planning/discussions/resolve.ts';
import { mayResolve } from '../../../planning/discussions/resolve_and_reply_rules.ts';
import { isNotFound } from '../../../platform/errors.ts';
import { extractQuickActions } from '../../../planning/issuables/text/quick_actions.ts';
import { runQuickActions } from '../../../planning/notes/quick_actions.ts';
import { parsePosition } from '../../../planning/notes/position.ts';
import { commentedMergeRequest as noun } from '../quick_actions.ts';
import { type DraftNote, deleteDraft } from './draft_notes.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { setReviewerState } from '../approvals/reviewers.ts';

/** Resolves the discussion of a draft if its author may do so now. */
const resolve = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { discussion_id }: DraftNote,
): Promise<void> => {
  if (discussion_id === null || !mayResolve(call, loaded)) return;
  const { notes } = await findDiscussion(call, loaded.target, discussion_id);
  await resolveNotes(noun, call, loaded, { notes, resolved: true });
};

/** Creates the comment and deletes the draft in the same transaction, so concurrent calls publish it once. */
const createComment = async (
  call: Call,
  loaded: LoadedMergeRequest,
  draft: DraftNote,
  body: string,
): Promise<void> => {
  const first = async (tx: { db: Call['db'] }): Promise<void> => await deleteDraft(tx, draft);
  const { discussion_id } = draft;
  if (body === '') await call.write(first);
  else if (discussion_id !== null) await addReply(noun, call, loaded, { body, first, discussion_id });
  else await createDiscussion(noun, call, loaded, { body, first, position: parsePosition(draft.position) });
};

/** @param head head that the caller saw, for quick actions; absent: the present one */
const publish = async (
  call: Call,
  loaded: LoadedMergeRequest,
  draft: DraftNote,
  head?: string,
): Promise<void> => {
  const { discussion_id, note } = draft;
  // Check first, as for a comment: a reply to a deleted discussion has no effects.
  if (discussion_id !== null) await findDiscussion(call, loaded.target, discussion_id);
  const { text } = extractQuickActions(note);
  await createComment(call, loaded, draft, text);
  try {
    await runQuickActions(noun, call, loaded, { body: note, head });
  } catch (error) {
    // A draft of quick actions only creates no comment: after a failure, restore it.
    if (text === '') await call.write(async (tx) => await insertRow(tx.db, 'draft_notes', draft));
    throw error;
  }
  if (draft.resolve_discussion === 1) await resolve(call, loaded, draft);
};

/**
 * Publishes drafts in order, oldest first, and marks the review of the caller as done. Skips drafts that were published
 * or deleted meanwhile. A reply to a deleted discussion remains a draft.
 * @param head head that the caller saw, for quick actions; absent: the present one
 */
export const publishAll = async (
  call: Call,
  loaded: LoadedMergeRequest,
  drafts: readonly DraftNote[],
  head?: string,
): Promise<void> => {
  for (const draft of drafts) {
    await publish(call, loaded, draft, head).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  await followVersions(call, loaded, drafts);
  if (drafts.length === 0) return;
  const { id } = requireUser(call);
  await call.write(async (tx) => {
    await setReviewerState(tx, loaded.target, id, { state: 'reviewed', from: 'unreviewed' });
  });
};

/** Moves comments on lines of older versions to the newest version. */
const followVersions = async (
  { platform }: Call,
  { project, merge_request }: LoadedMergeRequest,
  drafts: readonly DraftNote[],
): Promise<void> => {
  const head = merge_request.head_sha;
  const isOld = drafts.some(
    ({ position }) => position !== null && parsePosition(position)?.head_sha !== head,
  );
  if (isOld) await moveDiscussionPositions(platform, project, merge_request.id);
};

/** Publishes one draft. @throws Failure 404 if the draft, or the discussion it replies to, was deleted */
export const publishOne = async (call: Call, loaded: LoadedMergeRequest, draft: DraftNote): Promise<void> => {
  await publish(call, loaded, draft);
  await followVersions(call, loaded, [draft]);
};
