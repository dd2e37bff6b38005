import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type LoadedTarget, type Noun, type Target, eventKind } from '../issuables/target.ts';
import type { NoteRow } from '../notes/note_row.ts';
import { addSystemNotes } from '../notes/system.ts';
import { hasUnresolvedDiscussions } from './queries.ts';

/** Adds a system note when the last thread is resolved. */
const addNoteIfAllResolved = async (tx: Tx, actor: Actor, target: Target): Promise<void> => {
  if (target.type !== 'MergeRequest' || (await hasUnresolvedDiscussions(tx.db, target.id))) return;
  await addSystemNotes(tx, actor.user.id, target, ['resolved all threads']);
};

/**
 * Resolves or reopens comments in a transaction. Skips comments that already have the requested state.
 * @returns whether any changed
 */
export const storeResolved = async (
  tx: Tx,
  actor: Actor,
  { target }: Pick<LoadedTarget, 'target'>,
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
    .where(tx.dialect.oneOf('id', ids))
    .where('resolvable', '=', 1)
    .where('resolved_at', resolved ? 'is' : 'is not', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  if (resolved) await addNoteIfAllResolved(tx, actor, target);
  return true;
};

/** Resolves or reopens notes of a discussion. */
export const resolveNotes = async (
  noun: Noun,
  call: Call,
  loaded: LoadedTarget,
  { notes, resolved }: { notes: readonly NoteRow[]; resolved: boolean },
): Promise<void> => {
  const actor = requireActor(call);
  const { target, project } = loaded;
  const isSettled = notes.every((note) => note.resolvable === 0 || (note.resolved_at !== null) === resolved);
  if (isSettled) return;
  const ids = notes.map(({ id }) => id);
  await call.write(async (tx) => {
    await noun.change(tx, target, { updated_at: tx.now });
    if (!(await storeResolved(tx, actor, loaded, { ids, resolved }))) return;
    await recordEvent(tx, actor, {
      kind: eventKind(noun, resolved ? 'discussion_resolved' : 'discussion_unresolved'),
      project_id: project.id,
      target_type: target.type,
      target_id: target.id,
      data: { note_ids: ids },
    });
  });
};
