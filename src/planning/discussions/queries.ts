import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import type { NoteRow } from '../notes/note_row.ts';
import type { ActivityFilter, NoteReader } from '../notes/queries.ts';
import { visibleNotes } from '../notes/visible.ts';
import { toIndividualId, parseIndividualId } from './discussion_id.ts';

type TargetKey = { type: TargetType; id: number };

/** A thread of comments, or one standalone comment. */
export type Discussion = { id: string; notes: [NoteRow, ...NoteRow[]] };

const selectNotes = (db: Reader, { type, id }: TargetKey) =>
  db.selectFrom('notes').selectAll().where('target_type', '=', type).where('target_id', '=', id);

/** SQL that groups notes by discussion. A standalone comment is a group of one. */
const groupedNotes = (
  { db, viewer }: NoteReader,
  { type, id }: TargetKey,
  filter: ActivityFilter,
) => sql`from notes where target_type = ${type} and target_id = ${id} and ${visibleNotes(db, viewer)}
  ${filter === 'all_notes' ? sql`` : sql`and system = ${sql.lit(filter === 'only_activity' ? 1 : 0)}`}
  group by discussion_id, case when discussion_id is null then id else 0 end`;

type Lead = { first_id: number; discussion_id: string | null };

/** Groups notes into discussions, by the id of the thread or of the standalone comment, ordered by their first notes. */
const groupByDiscussion = (notes: NoteRow[]): Map<string | number, Discussion> => {
  const discussions = new Map<string | number, Discussion>();
  for (const note of notes) {
    const key = note.discussion_id ?? note.id;
    const existing = discussions.get(key);
    if (existing !== undefined) existing.notes.push(note);
    else discussions.set(key, { id: note.discussion_id ?? toIndividualId(note.id), notes: [note] });
  }
  return discussions;
};

const loadNotesOfLeads = async (db: Reader, target: TargetKey, leads: Lead[]): Promise<NoteRow[]> => {
  const threads = leads.flatMap(({ discussion_id }) => discussion_id ?? []);
  const alone = leads.filter((lead) => lead.discussion_id === null).map(({ first_id }) => first_id);
  return await selectNotes(db, target)
    .where((is) =>
      is.or([
        ...(threads.length > 0 ? [is('discussion_id', 'in', threads)] : []),
        ...(alone.length > 0 ? [is('id', 'in', alone)] : []),
      ]),
    )
    .orderBy('id')
    .execute();
};

const countDiscussions = async (db: Reader, all: RawBuilder<unknown>): Promise<{ total: number }> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (select 1 ${all}) as grouped`.execute(db);
  return { total: rows[0]?.total ?? 0 };
};

/** Lists the discussions of a target that the viewer sees, the oldest first. The total counts discussions. @param filter only those that begin with a comment, or with a system note */
export const listDiscussions = async (
  reader: NoteReader,
  target: TargetKey,
  page: PageRequest,
  filter: ActivityFilter = 'all_notes',
): Promise<Page<Discussion>> => {
  const { db } = reader;
  const all = groupedNotes(reader, target, filter);
  const { rows } = await sql<Lead>`select min(id) as first_id, discussion_id ${all}
    order by min(created_at), min(id) limit ${page.limit} offset ${page.offset}`.execute(db);
  const { items: leads, total } = await withTotal(page, rows, async () => await countDiscussions(db, all));
  if (leads.length === 0) return { items: [], total };
  const discussions = groupByDiscussion(await loadNotesOfLeads(db, target, leads));
  const items = leads.flatMap(({ first_id, discussion_id }) => {
    return discussions.get(discussion_id ?? first_id) ?? [];
  });
  return { items, total };
};

/** Lists the newest threads on lines and files of a merge request, in the order in which they began. */
export const listDiffDiscussions = async (
  { db, viewer }: NoteReader,
  target: TargetKey,
  limit: number,
): Promise<Discussion[]> => {
  const leads = await sql<Lead>`select min(id) as first_id, discussion_id
    from notes where target_type = ${target.type} and target_id = ${target.id} and type = 'DiffNote'
      and discussion_id is not null and ${visibleNotes(db, viewer)}
    group by discussion_id order by min(id) desc limit ${limit}`.execute(db);
  if (leads.rows.length === 0) return [];
  return [...groupByDiscussion(await loadNotesOfLeads(db, target, leads.rows)).values()];
};

/** Loads a discussion of this target; 404 if the viewer may not see it. */
export const findDiscussion = async (
  { db, viewer }: NoteReader,
  target: TargetKey,
  id: string,
): Promise<Discussion> => {
  const alone = parseIndividualId(id);
  const notes = await selectNotes(db, target)
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

/** Loads threads of a target by id, with all their notes. */
export const loadThreads = async (db: Reader, target: TargetKey, ids: string[]): Promise<Discussion[]> => {
  if (ids.length === 0) return [];
  const leads = ids.map((discussion_id) => ({ first_id: 0, discussion_id }));
  return [...groupByDiscussion(await loadNotesOfLeads(db, target, leads)).values()];
};

/** Returns a comment of this discussion; 404 if it has no such comment. */
export const findNoteIn = ({ notes }: Discussion, id: number): NoteRow => {
  const note = notes.find((one) => one.id === id);
  if (note === undefined) throw notFound();
  return note;
};

const unresolved = (db: Reader, { type, id }: TargetKey) =>
  selectNotes(db, { type, id }).where('resolvable', '=', sql.lit(1)).where('resolved_at', 'is', null);

/** Whether a merge request has an unresolved discussion. */
export const hasUnresolvedDiscussions = async (db: Reader, mergeRequestId: number): Promise<boolean> => {
  const discussion = await unresolved(db, { type: 'MergeRequest', id: mergeRequestId })
    .limit(1)
    .executeTakeFirst();
  return discussion !== undefined;
};

/** Limit of open notes that are listed per target. */
const maxOpenNotes = 200;

/** Lists the unresolved discussions of a target that the viewer sees, the oldest first, each with its open notes. */
export const unresolvedDiscussions = async (
  { db, viewer }: NoteReader,
  target: TargetKey,
): Promise<Discussion[]> => {
  const notes = await unresolved(db, target)
    .where(visibleNotes(db, viewer))
    .orderBy('id')
    .limit(maxOpenNotes)
    .execute();
  return [...groupByDiscussion(notes).values()];
};
