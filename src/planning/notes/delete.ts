import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { enqueueAutoMerge } from '../issuables/auto_merge_work.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { type LoadedNoteable, type Noteable, type NounActions, isIssuable } from '../issuables/target.ts';
import type { NoteRow } from './note_row.ts';

/** Deletes the mentions, todos and awards that belong to the comment. */
const deleteRelated = async (tx: Tx, target: Noteable, noteId: number): Promise<void> => {
  await tx.db
    .deleteFrom('award_emoji')
    .where('target_type', '=', 'Note')
    .where('target_id', '=', noteId)
    .execute();
  await tx.db
    .deleteFrom('mentions')
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('note_id', '=', noteId)
    .execute();
  if (!isIssuable(target)) return;
  await tx.db
    .deleteFrom('todos')
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('note_id', '=', noteId)
    .execute();
};

/**
 * Deletes a comment.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`, 404 if it was deleted meanwhile
 */
export const deleteNote = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  note: NoteRow,
): Promise<void> => {
  requireUnmodified(call.header('if-unmodified-since'), note.updated_at);
  const { target, project } = loaded;
  await call.write(async (tx) => {
    await noun.change(tx, target, { user_notes_count: note.internal === 1 ? 0 : -1, updated_at: tx.now });
    const { numDeletedRows } = await tx.db.deleteFrom('notes').where('id', '=', note.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await deleteRelated(tx, target, note.id);
    const wasOpenThread = note.resolvable === 1 && note.resolved_at === null;
    if (wasOpenThread && target.type === 'MergeRequest') await enqueueAutoMerge(tx, target.id);
    await recordEvent(tx, requireActor(call), {
      kind: 'note.deleted',
      project_id: project.id,
      target_type: 'Note',
      target_id: note.id,
      data: { noteable_type: target.type, noteable_id: target.id, author_id: note.author_id },
    });
  });
};
