import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { storeMentions } from '../issuables/text/store_mentions.ts';
import { type LoadedNoteable, type NounActions, isIssuable } from '../issuables/target.ts';
import { addTodos, finishTodos, mentionTodos } from '../todos/add_todos.ts';
import { addTargetMentionNotes } from './cross_references.ts';
import type { NoteRow } from './note_row.ts';
import { checkBody, requireCommenter, requireInternalWriter } from './rules.ts';

/** The columns that make a comment part of a thread. */
export type Thread = Pick<
  NoteRow,
  | 'discussion_id'
  | 'type'
  | 'original_position'
  | 'position'
  | 'resolvable'
  | 'resolved_at'
  | 'resolved_by_id'
>;

export type NewNote = {
  body: string;
  /** Only reporters and above see it. */
  internal?: boolean;
  /** Set by owners and administrators; ignored from other users. */
  created_at?: number;
  /** Runs first in the transaction; throws to abort it. */
  first?: (tx: Tx) => Promise<void>;
  /** Returns the thread columns, called with the target's row locked. Absent: a standalone comment. */
  thread?: (tx: Tx, actor: Actor) => Promise<Thread>;
};

/**
 * Adds a comment, with all its side effects in one transaction.
 * @throws Failure 403 if the caller may not comment, or not internally, 400 for a blank text
 */
export const createNote = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  input: NewNote,
): Promise<NoteRow> => {
  const { target, project } = loaded;
  requireCommenter(call, loaded);
  const { internal = false } = input;
  if (internal) requireInternalWriter(call, loaded);
  const body = checkBody(input.body);
  const at = may(call.viewer, 'set_note_times', project) ? input.created_at : undefined;
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    await input.first?.(tx);
    // First, because every other change of the target also locks this row.
    await noun.change(tx, target, { user_notes_count: internal ? 0 : 1, updated_at: tx.now });
    const thread = await input.thread?.(tx, actor);
    const row = {
      project_id: project.id,
      target_type: target.type,
      target_id: target.id,
      author_id: actor.user.id,
      body,
      system: 0 as const,
      internal: toFlag(internal),
      created_at: at ?? tx.now,
      updated_at: at ?? tx.now,
      ...thread,
    };
    const [note] = await insertRows<'notes', NoteRow>(tx.db, 'notes', [row], 'returning *');
    if (note === undefined) throw new Error('a comment was not stored');
    const mentioned = await storeMentions(tx, loaded, {
      note_id: note.id,
      text: body,
      author_id: actor.user.id,
      isNew: true,
      isInternal: internal,
    });
    if (isIssuable(target)) {
      await finishTodos(tx, actor.user.id, target);
      await addTodos(tx, actor.user.id, target, mentionTodos(mentioned, actor.user.id, body, note.id));
      if (!internal) await addTargetMentionNotes(tx, call, { target, project }, body);
    }
    await recordEvent(tx, actor, {
      kind: 'note.created',
      project_id: project.id,
      target_type: 'Note',
      target_id: note.id,
      data: { noteable_type: target.type, noteable_id: target.id },
    });
    return note;
  });
};
