import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { enqueueAutoMerge } from '../issuables/auto_merge_work.ts';
import {
  type LoadedNoteable,
  type LoadedTarget,
  type Noteable,
  type NounActions,
  type Noun,
  eventKind,
} from '../issuables/target.ts';
import type { NoteRow } from '../notes/note_row.ts';
import { addSystemNotes } from '../notes/add_system_notes.ts';
import { forbidden } from '../../platform/errors.ts';
import { hasUnresolvedDiscussions, listUnresolvedIds } from './queries.ts';
import { mayResolve } from './resolve_and_reply_rules.ts';

/** If the last thread was resolved, adds a system note and rechecks a merge that waits for it. */
const noteAllResolved = async (tx: Tx, actor: Actor, target: Noteable): Promise<void> => {
  if (target.type !== 'MergeRequest' || (await hasUnresolvedDiscussions(tx.db, target.id))) return;
  await addSystemNotes(tx, actor.user.id, { ...target, type: target.type }, ['resolved all threads']);
  await enqueueAutoMerge(tx, target.id);
};

/**
 * Resolves or reopens comments in a transaction, which holds the lock of the target's row. Skips comments that already have the requested state.
 * @returns whether any changed
 */
export const storeResolved = async (
  tx: Tx,
  actor: Actor,
  { target }: Pick<LoadedNoteable, 'target'>,
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
  if (resolved) await noteAllResolved(tx, actor, target);
  return true;
};

type Resolved = { ids: number[]; resolved: boolean };

/** Resolves or reopens notes in a transaction, with the effects of that. @returns whether any changed */
const changeResolved = async <L extends LoadedNoteable>(
  tx: Tx,
  noun: NounActions<L>,
  { actor, loaded }: { actor: Actor; loaded: L },
  { ids, resolved }: Resolved,
): Promise<boolean> => {
  const { target, project } = loaded;
  await noun.change(tx, target, { updated_at: tx.now });
  if (!(await storeResolved(tx, actor, loaded, { ids, resolved }))) return false;
  await recordEvent(tx, actor, {
    kind: eventKind(noun, resolved ? 'discussion_resolved' : 'discussion_unresolved'),
    project_id: project.id,
    target_type: target.type,
    target_id: target.id,
    data: { note_ids: ids },
  });
  return true;
};

/** Resolves or reopens notes of a discussion. */
export const resolveNotes = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { notes, resolved }: { notes: readonly NoteRow[]; resolved: boolean },
): Promise<void> => {
  const actor = requireActor(call);
  const isSettled = notes.every((note) => note.resolvable === 0 || (note.resolved_at !== null) === resolved);
  if (isSettled) return;
  const ids = notes.map(({ id }) => id);
  await call.write(async (tx) => {
    await changeResolved(tx, noun, { actor, loaded }, { ids, resolved });
  });
};

/**
 * Resolves all threads that the caller sees, a number of them in each transaction.
 * @throws Failure 403
 */
export const resolveAllThreads = async (noun: Noun, call: Call, loaded: LoadedTarget): Promise<void> => {
  if (!mayResolve(call, loaded)) throw forbidden();
  const actor = requireActor(call);
  const resolveSome = async (): Promise<boolean> =>
    await call.write(async (tx) => {
      const ids = await listUnresolvedIds({ db: tx.db, viewer: call.viewer }, loaded.target);
      return ids.length > 0 && (await changeResolved(tx, noun, { actor, loaded }, { ids, resolved: true }));
    });
  while (await resolveSome());
};
