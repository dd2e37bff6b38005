/** Stores which suggestions were applied, and by which commit. */
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { insertRows } from '../../../platform/db/insert.ts';
import { toSuggestionId } from './parse_suggestions.ts';

/** Returns the ids of the applied suggestions of comments. */
export const loadApplied = async (db: Reader, noteIds: readonly number[]): Promise<Set<number>> => {
  if (noteIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('applied_suggestions')
    .select(['note_id', 'position'])
    .where('note_id', 'in', noteIds)
    .execute();
  return new Set(rows.map(({ note_id, position }) => toSuggestionId(note_id, position)));
};

export type AppliedSuggestion = { note_id: number; position: number };

/** Records suggestions of existing comments as applied. */
export const storeApplied = async (
  tx: Tx,
  commit_sha: string,
  suggestions: readonly AppliedSuggestion[],
): Promise<void> => {
  const ids = suggestions.map(({ note_id }) => note_id);
  const notes = await tx.db.selectFrom('notes').select('id').where('id', 'in', ids).execute();
  const existing = new Set(notes.map(({ id }) => id));
  const rows = suggestions.filter(({ note_id }) => existing.has(note_id));
  if (rows.length === 0) return;
  await insertRows(
    tx.db,
    'applied_suggestions',
    rows.map((row) => ({ ...row, commit_sha, created_at: tx.now })),
    'on conflict do nothing',
  );
};

/** Deletes the suggestions of a comment whose text has changed, because the new text has other suggestions. */
export const forgetApplied = async ({ db }: Tx, noteId: number): Promise<void> => {
  await db.deleteFrom('applied_suggestions').where('note_id', '=', noteId).execute();
};
