import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Mentioned, storeMentions } from '../issuables/text/store_mentions.ts';
import {
  type LoadedNoteable,
  type Noteable,
  type NounActions,
  type Target,
  isIssuable,
} from '../issuables/target.ts';
import { addTodos, mentionTodos } from '../todos/add_todos.ts';
import { addTargetMentionNotes } from './cross_references.ts';
import type { NoteRow } from './note_row.ts';
import { checkBody } from './rules.ts';
import { forgetApplied } from './suggestions/applied_suggestions.ts';

const mentionedBefore = async (tx: Tx, target: Noteable, noteId: number): Promise<Set<number>> => {
  const rows = await tx.db
    .selectFrom('mentions')
    .select('user_id')
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('note_id', '=', noteId)
    .execute();
  return new Set(rows.map((row) => row.user_id));
};

/** Changes the text of the todos of a comment. Adds todos for users whom the old text did not mention. */
const followMentions = async (
  tx: Tx,
  actor: Actor,
  { target, note, fresh }: { target: Target; note: NoteRow; fresh: Mentioned[] },
): Promise<void> => {
  await tx.db
    .updateTable('todos')
    .set({ body: note.body })
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('note_id', '=', note.id)
    .execute();
  await addTodos(tx, actor.user.id, target, mentionTodos(fresh, actor.user.id, note.body, note.id));
};

const replaceMentions = async (
  tx: Tx,
  actor: Actor,
  loaded: LoadedNoteable,
  note: NoteRow,
): Promise<void> => {
  const { target } = loaded;
  const before = await mentionedBefore(tx, target, note.id);
  const mentioned = await storeMentions(tx, loaded, {
    note_id: note.id,
    text: note.body,
    author_id: actor.user.id,
    isNew: false,
    isInternal: note.internal === 1,
  });
  const fresh = mentioned.filter(({ user_id }) => !before.has(user_id));
  if (isIssuable(target)) await followMentions(tx, actor, { target, note, fresh });
};

export type NoteEdit = {
  note: NoteRow;
  body: string;
  /** Called with the text before the edit, in its transaction; throws to abort it. */
  check?: (current: Pick<NoteRow, 'body'>) => void;
};

/** @throws Failure 404 if the comment was deleted meanwhile */
const loadBody = async (tx: Tx, { id }: NoteRow): Promise<Pick<NoteRow, 'body'>> => {
  const current = await tx.db.selectFrom('notes').select('body').where('id', '=', id).executeTakeFirst();
  if (current === undefined) throw notFound();
  return current;
};

/**
 * Changes the text of a comment; the same text changes nothing.
 * @throws Failure 400 for a blank text
 */
export const updateNote = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { note, body: text, check }: NoteEdit,
): Promise<NoteRow> => {
  const body = checkBody(text);
  if (body === note.body) return note;
  const { target, project } = loaded;
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    await noun.change(tx, target, { updated_at: tx.now });
    check?.(await loadBody(tx, note));
    const edited = await tx.db
      .updateTable('notes')
      .set({ body, updated_at: tx.now, edited_by_id: actor.user.id })
      .where('id', '=', note.id)
      .returningAll()
      .executeTakeFirst();
    if (edited === undefined) throw notFound();
    if (edited.type === 'DiffNote') await forgetApplied(tx, note.id);
    await replaceMentions(tx, actor, loaded, edited);
    if (edited.internal === 0 && isIssuable(target))
      await addTargetMentionNotes(tx, call, { target, project }, body);
    await recordEvent(tx, actor, {
      kind: 'note.updated',
      project_id: project.id,
      target_type: 'Note',
      target_id: note.id,
      data: { noteable_type: target.type, noteable_id: target.id },
    });
    return edited;
  });
};
