import type { Viewer } from '../../core/access/viewer.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { NoteRow } from './note_row.ts';
import { visibleNotes } from './visible.ts';

type TargetKey = { type: TargetType; id: number };

export type NoteOrder = {
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
  activity_filter: 'all_notes' | 'only_comments' | 'only_activity';
};

/** The viewer who reads the notes, and the database handle. */
export type NoteReader = { db: Reader; viewer: Viewer };

const selectNotes = ({ db, viewer }: NoteReader, { type, id }: TargetKey) =>
  db
    .selectFrom('notes')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where(visibleNotes(db, viewer));

export const listNotes = async (
  reader: NoteReader,
  target: TargetKey,
  { order_by, sort, activity_filter }: NoteOrder,
  { limit, offset }: PageRequest,
): Promise<Page<NoteRow>> => {
  const all = selectNotes(reader, target);
  const query =
    activity_filter === 'all_notes'
      ? all
      : all.where('system', '=', activity_filter === 'only_activity' ? 1 : 0);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy(order_by, sort).orderBy('id', sort).limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Loads a note of this target; 404 if the viewer may not see it. */
export const findNote = async (reader: NoteReader, target: TargetKey, id: number): Promise<NoteRow> => {
  const note = await selectNotes(reader, target).selectAll().where('id', '=', id).executeTakeFirst();
  if (note === undefined) throw notFound();
  return note;
};
