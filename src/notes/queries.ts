import type { Viewer } from '../access/viewer.ts';
import type { Reader } from '../db/open.ts';
import type { TargetType } from '../db/schema.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import type { NoteRow } from './json.ts';
import { visibleNotes } from './visible.ts';

type Of = { type: TargetType; id: number };

export type NoteOrder = {
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
  activity_filter: 'all_notes' | 'only_comments' | 'only_activity';
};

/** Who looks, and where. */
export type Looking = { db: Reader; viewer: Viewer };

const notesOf = ({ db, viewer }: Looking, { type, id }: Of) =>
  db
    .selectFrom('notes')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where(visibleNotes(db, viewer));

export const listNotes = async (
  looking: Looking,
  target: Of,
  { order_by, sort, activity_filter }: NoteOrder,
  { limit, offset }: PageRequest,
): Promise<Page<NoteRow>> => {
  const all = notesOf(looking, target);
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

/** A note of this very target, if the viewer sees it; else 404. */
export const findNote = async (looking: Looking, target: Of, id: number): Promise<NoteRow> => {
  const found = await notesOf(looking, target).selectAll().where('id', '=', id).executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
};
