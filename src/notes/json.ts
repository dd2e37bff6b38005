import type { Selectable } from 'kysely';
import type { Call, Site } from '../access/call.ts';
import type { NotesTable } from '../db/schema.ts';
import { bool, int, nullable, object, string, timestamp } from '../http/schema.ts';
import type { Target } from '../issuables/target.ts';
import { formatTime } from '../time.ts';
import { type BasicUserRow, basicUser, basicUserShape, basicUsersById } from '../users/json.ts';
import { visibleBodies } from './moved.ts';

export const noteShape = object({
  id: int,
  type: nullable(string),
  body: string,
  attachment: nullable(string),
  author: basicUserShape,
  created_at: timestamp,
  updated_at: timestamp,
  system: bool,
  noteable_id: int,
  noteable_type: string,
  noteable_iid: int,
  project_id: int,
  resolvable: bool,
  confidential: bool,
});

export type NoteRow = Selectable<NotesTable>;

const noteJson = (
  note: NoteRow,
  author: BasicUserRow,
  { body, iid }: { body: string; iid: number },
  site: Site,
) => ({
  id: note.id,
  type: null,
  body,
  attachment: null,
  author: basicUser(author, site),
  created_at: formatTime(note.created_at),
  updated_at: formatTime(note.updated_at),
  system: note.system === 1,
  noteable_id: note.target_id,
  noteable_type: note.target_type,
  noteable_iid: iid,
  project_id: note.project_id,
  resolvable: false,
  confidential: false,
});

/** Notes of one target as the caller may read them, in two statements at most. */
export const notesJson = async (call: Call, { iid }: Pick<Target, 'iid'>, notes: NoteRow[]) => {
  const [authors, bodies] = await Promise.all([
    basicUsersById(
      call.db,
      notes.map((note) => note.author_id),
    ),
    visibleBodies(call, notes),
  ]);
  return notes.flatMap((note) => {
    const author = authors.get(note.author_id);
    const body = bodies.get(note.id) ?? note.body;
    return author === undefined ? [] : [noteJson(note, author, { body, iid }, call)];
  });
};
