/** Author and time of the last edit of a description or a comment. */
import type { Call } from '../../../../core/access/call.ts';
import { basicUsersById } from '../../../../identity/users/json.ts';
import type { NoteRow } from '../../../../planning/notes/note_row.ts';
import { formatTime } from '../../../../platform/time.ts';
import { type Html, html } from '../html.ts';
import { relativeTo } from '../timestamp.ts';

export type LastEdit = {
  /** `2026-11-21T16:05:00.000Z` */
  at: string;
  /** null: deleted, or unknown because the edit is older than the column. */
  by: { name: string; username: string } | null;
};

/** Renders the last edit; null if there was none. */
export const lastEditPart = (edit: LastEdit | null): Html | null =>
  edit === null
    ? null
    : html`<span class="muted last-edit">edited ${relativeTo(edit.at)}${
        edit.by !== null && html` by <a class="muted" href="/${edit.by.username}">${edit.by.name}</a>`
      }</span>`;

type Edited = Pick<NoteRow, 'id' | 'created_at' | 'updated_at' | 'edited_by_id'>;

/** Columns of a record that tell when its description was edited. */
export type EditedRecord = { last_edited_at: number | null; last_edited_by_id: number | null };

export type LastEdits = { target: LastEdit | null; notes: ReadonlyMap<number, LastEdit> };

/** Loads the last edits of comments and of their record, in one statement; in none if nothing was edited. */
export const loadLastEdits = async (
  { db }: Pick<Call, 'db'>,
  notes: readonly Edited[],
  record: EditedRecord | null,
): Promise<LastEdits> => {
  const edited = notes.filter(({ created_at, updated_at }) => created_at !== updated_at);
  const ids = [record?.last_edited_by_id ?? null, ...edited.map(({ edited_by_id }) => edited_by_id)];
  const editors = await basicUsersById(
    db,
    ids.filter((id) => id !== null),
  );
  const toEdit = (at: number, id: number | null): LastEdit => ({
    at: formatTime(at),
    by: (id === null ? null : editors.get(id)) ?? null,
  });
  const at = record?.last_edited_at ?? null;
  return {
    target: at === null ? null : toEdit(at, record?.last_edited_by_id ?? null),
    notes: new Map(edited.map((note) => [note.id, toEdit(note.updated_at, note.edited_by_id)])),
  };
};
