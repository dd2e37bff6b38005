import { type RawBuilder, sql } from 'kysely';
import { getDialect } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import type { NoteRow } from '../notes/note_row.ts';
import type { ActivityFilter, NoteReader } from '../notes/queries.ts';
import { visibleNotes } from '../notes/visible.ts';
import { toIndividualId, parseIndividualId } from './discussion_id.ts';

type TargetKey = { type: NoteableType; id: number };

/** A thread of comments, or one standalone comment. */
export type Discussion = { id: string; notes: [NoteRow, ...NoteRow[]] };

const selectNotes = (db: Reader, { type, id }: TargetKey) =>
  db.selectFrom('notes').selectAll().where('target_type', '=', type).where('target_id', '=', id);

/** The notes of a target that a viewer sees, comments or system notes or both. */
type Listed = { reader: NoteReader; target: TargetKey; filter: ActivityFilter };

/** SQL condition over `notes`. */
const isListed = ({ reader: { db, viewer }, target: { type, id }, filter }: Listed): RawBuilder<boolean> =>
  sql<boolean>`notes.target_type = ${type} and notes.target_id = ${id} and ${visibleNotes(db, viewer)}
    ${filter === 'all_notes' ? sql`` : sql`and notes.system = ${sql.lit(filter === 'only_activity' ? 1 : 0)}`}`;

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

/** A standalone comment is a separate discussion. */
const countDiscussions = async (listed: Listed): Promise<{ total: number }> => {
  const { rows } = await sql<{ total: number }>`
    select count(distinct discussion_id) + count(case when discussion_id is null then 1 end) as total
    from notes where ${isListed(listed)}`.execute(listed.reader.db);
  return { total: rows[0]?.total ?? 0 };
};

/**
 * Selects the first note of each discussion in the order of the creation index, so that a page reads only its own rows.
 */
const selectLeads = async (listed: Listed, { limit, offset }: PageRequest): Promise<Lead[]> => {
  const { db } = listed.reader;
  const { indexedBy } = getDialect(db);
  const { rows } = await sql<Lead>`
    select lead.id as first_id, lead.discussion_id
    from (select id, discussion_id, created_at from notes where ${isListed(listed)}) as lead
    where lead.discussion_id is null or not exists (
      select 1 from notes ${indexedBy('notes_discussion')}
      where notes.discussion_id = lead.discussion_id and notes.discussion_id is not null
        and (notes.created_at, notes.id) < (lead.created_at, lead.id) and ${isListed(listed)})
    order by lead.created_at, lead.id limit ${limit} offset ${offset}`.execute(db);
  return rows;
};

/**
 * Lists the discussions of a target that the viewer sees, oldest first. The total counts discussions.
 * @param filter only discussions that start with a comment, or with a system note
 */
export const listDiscussions = async (
  reader: NoteReader,
  target: TargetKey,
  page: PageRequest,
  filter: ActivityFilter = 'all_notes',
): Promise<Page<Discussion>> => {
  const listed = { reader, target, filter };
  const rows = await selectLeads(listed, page);
  const { items: leads, total } = await withTotal(page, rows, async () => await countDiscussions(listed));
  if (leads.length === 0) return { items: [], total };
  const discussions = groupByDiscussion(await loadNotesOfLeads(reader.db, target, leads));
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

/** Returns whether a merge request has an unresolved discussion. */
export const hasUnresolvedDiscussions = async (db: Reader, mergeRequestId: number): Promise<boolean> => {
  const discussion = await unresolved(db, { type: 'MergeRequest', id: mergeRequestId })
    .limit(1)
    .executeTakeFirst();
  return discussion !== undefined;
};

/** Limit of open notes that are listed per target. */
const maxOpenNotes = 200;

/** Lists the oldest unresolved notes of a target that the viewer sees, by their ids. */
export const listUnresolvedIds = async ({ db, viewer }: NoteReader, target: TargetKey): Promise<number[]> => {
  const notes = await unresolved(db, target)
    .clearSelect()
    .select('id')
    .where(visibleNotes(db, viewer))
    .orderBy('id')
    .limit(maxOpenNotes)
    .execute();
  return notes.map(({ id }) => id);
};

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
