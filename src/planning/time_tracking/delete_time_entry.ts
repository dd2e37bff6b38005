/** Deletes one entry of time spent. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import { forbidden, invalid, notFound } from '../../platform/errors.ts';
import { formatTime } from '../../platform/time.ts';
import { timeEntryDeletedText } from '../issuables/text/system_note_text.ts';
import { type LoadedTarget, type Noun, type Target, maxSpentSeconds } from '../issuables/target.ts';
import { type Stats, type Step, changeTimes } from './change_times.ts';

type Entry = { user_id: number };

/** Returns whether the caller may delete an entry: of their own, or as a maintainer any. */
export const mayDeleteTimeEntry = (
  call: Call,
  { project, mayUpdate }: { project: LoadedTarget['project']; mayUpdate: boolean },
  { user_id }: Entry,
): boolean =>
  mayUpdate && (user_id === call.actor?.user.id || may(call.viewer, 'delete_time_entry', project));

const loadEntry = async ({ db }: Tx, { type, id }: Target, entryId: number) => {
  const entry = await db
    .selectFrom('timelogs')
    .selectAll()
    .where('id', '=', entryId)
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .executeTakeFirst();
  if (entry === undefined) throw notFound();
  return entry;
};

/** @throws Failure 400 if the remaining entries have no valid total */
const checkTotal = (total: number): void => {
  if (total < 0) {
    throw invalid({ time_spent: ['Later entries subtract the time of this entry. Delete them first.'] });
  }
  if (total > maxSpentSeconds) {
    throw invalid({ time_spent: ['The total without this entry is too large. Delete other entries first.'] });
  }
};

/**
 * Deletes an entry, and takes its time from the total.
 * @throws Failure 404 for an entry of another record, 403 without the right, 400 if less than nothing or too much would remain
 */
export const deleteTimeEntry = async (
  noun: Noun,
  call: Call,
  loaded: LoadedTarget,
  entryId: number,
): Promise<void> => {
  requireActor(call);
  const step = async ({ total_time_spent }: Stats, tx: Tx): Promise<Step> => {
    const entry = await loadEntry(tx, loaded.target, entryId);
    const rights = { project: loaded.project, mayUpdate: noun.mayUpdate(call, loaded) };
    if (!mayDeleteTimeEntry(call, rights, entry)) throw forbidden();
    const total = total_time_spent - entry.time_spent;
    checkTotal(total);
    const day = entry.spent_on ?? formatTime(entry.created_at).slice(0, 10);
    return {
      change: { total_time_spent: total },
      note: timeEntryDeletedText(entry.time_spent, day),
      deletedEntry: entry.id,
    };
  };
  await changeTimes(noun, call, loaded, step);
};
