import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { TargetType } from '../db/schema.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import type { NoteRow } from '../notes/json.ts';
import type { Looking } from '../notes/queries.ts';
import { visibleNotes } from '../notes/visible.ts';
import { individualId, noteOfId } from './id.ts';

type Of = { type: TargetType; id: number };

/** One or more comments that answer each other; the first one is its beginning. */
export type Discussion = { id: string; notes: [NoteRow, ...NoteRow[]] };

const notesOf = (db: Reader, { type, id }: Of) =>
  db.selectFrom('notes').selectAll().where('target_type', '=', type).where('target_id', '=', id);

/** A comment of its own is a group alone. */
const grouped = (
  { db, viewer }: Looking,
  { type, id }: Of,
) => sql`from notes where target_type = ${type} and target_id = ${id} and ${visibleNotes(db, viewer)}
  group by discussion_id, case when discussion_id is null then id else 0 end`;

type Lead = { first_id: number; discussion_id: string | null };

const idOf = ({ id, discussion_id }: Pick<NoteRow, 'id' | 'discussion_id'>): string =>
  discussion_id ?? individualId(id);

/** Discussions of notes, in the order of their first ones. */
const joined = (notes: NoteRow[]): Map<string, Discussion> => {
  const discussions = new Map<string, Discussion>();
  for (const note of notes) {
    const id = idOf(note);
    const known = discussions.get(id);
    if (known === undefined) discussions.set(id, { id, notes: [note] });
    else known.notes.push(note);
  }
  return discussions;
};

const notesOfLeads = async (db: Reader, target: Of, leads: Lead[]): Promise<NoteRow[]> => {
  const threads = leads.flatMap(({ discussion_id }) => discussion_id ?? []);
  const alone = leads.filter((lead) => lead.discussion_id === null).map(({ first_id }) => first_id);
  return await notesOf(db, target)
    .where((is) =>
      is.or([
        ...(threads.length > 0 ? [is('discussion_id', 'in', threads)] : []),
        ...(alone.length > 0 ? [is('id', 'in', alone)] : []),
      ]),
    )
    .orderBy('id')
    .execute();
};

/** Discussions of a target that the viewer sees, the oldest first; the total counts discussions. */
export const listDiscussions = async (
  looking: Looking,
  target: Of,
  { limit, offset }: PageRequest,
): Promise<Page<Discussion>> => {
  const { db } = looking;
  const all = grouped(looking, target);
  const [counted, leads] = await Promise.all([
    sql<{ total: number }>`select count(*) as total from (select 1 ${all}) as grouped`.execute(db),
    sql<Lead>`select min(id) as first_id, discussion_id ${all}
      order by min(created_at), min(id) limit ${limit} offset ${offset}`.execute(db),
  ]);
  const total = counted.rows[0]?.total ?? 0;
  if (leads.rows.length === 0) return { items: [], total };
  const discussions = joined(await notesOfLeads(db, target, leads.rows));
  const items = leads.rows.flatMap(({ first_id, discussion_id }) => {
    return discussions.get(idOf({ id: first_id, discussion_id })) ?? [];
  });
  return { items, total };
};

/** A discussion of this very target, if the viewer sees it; else 404. */
export const findDiscussion = async (
  { db, viewer }: Looking,
  target: Of,
  id: string,
): Promise<Discussion> => {
  const alone = noteOfId(id);
  const notes = await notesOf(db, target)
    .where((is) =>
      is.or([
        is('discussion_id', '=', id),
        ...(alone === null ? [] : [is.and([is('id', '=', alone), is('discussion_id', 'is', null)])]),
      ]),
    )
    .where(visibleNotes(db, viewer))
    .orderBy('id')
    .execute();
  const [first, ...rest] = notes;
  if (first === undefined) throw notFound('Discussion');
  return { id, notes: [first, ...rest] };
};

/** Threads of a target by id, with all their notes. */
export const threadsOf = async (db: Reader, target: Of, ids: string[]): Promise<Discussion[]> => {
  if (ids.length === 0) return [];
  const leads = ids.map((discussion_id) => ({ first_id: 0, discussion_id }));
  return [...joined(await notesOfLeads(db, target, leads)).values()];
};

/** A comment of this very discussion; else 404. */
export const findNoteOf = ({ notes }: Discussion, id: number): NoteRow => {
  const note = notes.find((one) => one.id === id);
  if (note === undefined) throw notFound();
  return note;
};

const unresolved = (db: Reader, { type, id }: Of) =>
  notesOf(db, { type, id }).where('resolvable', '=', sql.lit(1)).where('resolved_at', 'is', null);

/** Whether a merge request waits for a discussion on it to be resolved. */
export const hasUnresolvedDiscussions = async (db: Reader, mergeRequestId: number): Promise<boolean> => {
  const found = await unresolved(db, { type: 'MergeRequest', id: mergeRequestId })
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};

/** More of one merge request are not listed. */
const most = 200;

/** Discussions of a target that are not resolved, the oldest first, each with its open notes. */
export const unresolvedDiscussions = async (db: Reader, target: Of): Promise<Discussion[]> => {
  const notes = await unresolved(db, target).orderBy('id').limit(most).execute();
  return [...joined(notes).values()];
};
