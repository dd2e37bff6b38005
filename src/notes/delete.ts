import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import type { Found, Noun } from '../issuables/target.ts';
import type { NoteRow } from './json.ts';

/** Removes what stands for the comment elsewhere: mentions, todos that quote it, awards. */
const forget = async (tx: Tx, { target }: Found, noteId: number): Promise<void> => {
  await tx.db
    .deleteFrom('award_emoji')
    .where('target_type', '=', 'Note')
    .where('target_id', '=', noteId)
    .execute();
  for (const table of ['mentions', 'todos'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await tx.db
      .deleteFrom(table)
      .where('target_type', '=', target.type)
      .where('target_id', '=', target.id)
      .where('note_id', '=', noteId)
      .execute();
  }
};

/**
 * Deletes a comment.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`, 404 if somebody else was faster
 */
export const deleteNote = async (noun: Noun, call: Call, found: Found, note: NoteRow): Promise<void> => {
  requireUnmodified(call.header('if-unmodified-since'), note.updated_at);
  const { target, project } = found;
  await call.write(async (tx) => {
    await noun.change(tx, target, { user_notes_count: -1, updated_at: tx.now });
    const { numDeletedRows } = await tx.db.deleteFrom('notes').where('id', '=', note.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await forget(tx, found, note.id);
    await recordEvent(tx, actorOf(call), {
      kind: 'note.deleted',
      project_id: project.id,
      target_type: 'Note',
      target_id: note.id,
      data: { noteable_type: target.type, noteable_id: target.id, author_id: note.author_id },
    });
  });
};
