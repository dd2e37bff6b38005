import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { mention } from '../issuables/mention_rows.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { addTodos, finishTodos, mentionTodos } from '../todos/add.ts';
import { noteMentionsIn } from './cross_references.ts';
import type { NoteRow } from './json.ts';
import { checkBody, requireCommenter } from './rules.ts';

/** What makes a comment part of a thread. */
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
  /** Of owners and administrators; from others it is dropped without a word. */
  created_at?: number;
  /** Done in the transaction before all else, which it may end. */
  first?: (tx: Tx) => Promise<void>;
  /** Asked in the transaction, the target's row locked; absent: a comment of its own. */
  thread?: (tx: Tx, actor: Actor) => Promise<Thread>;
};

/**
 * Adds a comment, with all its side effects in one transaction.
 * @throws Failure 403 for one who may not comment, 400 for a blank text
 */
export const createNote = async (noun: Noun, call: Call, found: Found, given: NewNote): Promise<NoteRow> => {
  const { target, project } = found;
  requireCommenter(call, found);
  const body = checkBody(given.body);
  const at = may(call.viewer, 'set_note_times', project) ? given.created_at : undefined;
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    await given.first?.(tx);
    // Before what follows, as its row is locked by every other change of the target, too.
    await noun.change(tx, target, { user_notes_count: 1, updated_at: tx.now });
    const thread = await given.thread?.(tx, actor);
    const note = await tx.db
      .insertInto('notes')
      .values({
        project_id: project.id,
        target_type: target.type,
        target_id: target.id,
        author_id: actor.user.id,
        body,
        system: 0,
        created_at: at ?? tx.now,
        updated_at: at ?? tx.now,
        ...thread,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const mentioned = await mention(tx, found, { note_id: note.id, text: body, isNew: true });
    await finishTodos(tx, actor.user.id, target);
    await addTodos(tx, actor.user.id, target, mentionTodos(mentioned, actor.user.id, body, note.id));
    await noteMentionsIn(tx, call, found, body);
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
