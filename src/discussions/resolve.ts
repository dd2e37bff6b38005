import { type Actor, type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { type Found, type Noun, type Target, eventKind } from '../issuables/target.ts';
import type { NoteRow } from '../notes/json.ts';
import { addSystemNotes } from '../notes/system.ts';
import { hasUnresolvedDiscussions } from './queries.ts';

/** Who read it there knows it when the last thread is settled. */
const noteLast = async (tx: Tx, actor: Actor, target: Target): Promise<void> => {
  if (target.type !== 'MergeRequest' || (await hasUnresolvedDiscussions(tx.db, target.id))) return;
  await addSystemNotes(tx, actor.user.id, target, ['resolved all threads']);
};

/**
 * Resolves comments or opens them again, inside a transaction; those that are so already stay as they are.
 * @returns whether any changed
 */
export const storeResolved = async (
  tx: Tx,
  actor: Actor,
  { target }: Pick<Found, 'target'>,
  { ids, resolved }: { ids: number[]; resolved: boolean },
): Promise<boolean> => {
  if (ids.length === 0) return false;
  const { numUpdatedRows } = await tx.db
    .updateTable('notes')
    .set(
      resolved
        ? { resolved_at: tx.now, resolved_by_id: actor.user.id }
        : { resolved_at: null, resolved_by_id: null },
    )
    .where(tx.words.oneOf('id', ids))
    .where('resolvable', '=', 1)
    .where('resolved_at', resolved ? 'is' : 'is not', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  if (resolved) await noteLast(tx, actor, target);
  return true;
};

/** Resolves a discussion, or a part of it, or opens it again. */
export const resolveNotes = async (
  noun: Noun,
  call: Call,
  found: Found,
  { notes, resolved }: { notes: readonly NoteRow[]; resolved: boolean },
): Promise<void> => {
  const actor = actorOf(call);
  const { target, project } = found;
  const isSettled = notes.every((note) => note.resolvable === 0 || (note.resolved_at !== null) === resolved);
  if (isSettled) return;
  const ids = notes.map(({ id }) => id);
  await call.write(async (tx) => {
    await noun.change(tx, target, { updated_at: tx.now });
    if (!(await storeResolved(tx, actor, found, { ids, resolved }))) return;
    await recordEvent(tx, actor, {
      kind: eventKind(noun, resolved ? 'discussion_resolved' : 'discussion_unresolved'),
      project_id: project.id,
      target_type: target.type,
      target_id: target.id,
      data: { note_ids: ids },
    });
  });
};
