import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import { compiled, compiledWithValues } from '../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { NoteRow } from '../notes/note_row.ts';
import type { ActivityFilter, NoteReader } from '../notes/queries.ts';
import { visibleNotes } from '../notes/visible.ts';
import { toIndividualId, parseIndividualId } from './discussion_id.ts';

type TargetKey = { type: NoteableType; id: number };

/** A thread of comments, or one standalone comment. */
export type Discussion = { id: string; notes: [NoteRow, ...NoteRow[]] };

const selectNotes = (db: Reader, { type, id }: TargetKey) =>
  db.selectFrom('notes').selectAll().where('target_type', '=', type).where('target_id', '=', id);

/** The notes that a viewer sees, comments or system notes or both. */
type Listed = { viewer: Viewer; filter: ActivityFilter };

/** SQL condition over `notes` of a target. */
const isListed = (db: Reader, { type, id }: TargetKey, { viewer, filter }: Listed): RawBuilder<boolean> =>
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

type Threads = TargetKey & { threads: readonly string[] };
type Comments = TargetKey & { alone: readonly number[] };

const inThreads = ({ threads }: Threads, { oneOf }: SqlDialect) => oneOf('discussion_id', threads);
const isAlone = ({ alone }: Comments, { oneOf }: SqlDialect) => oneOf('id', alone);

const notesOfThreads = compiled((db, { type, id, threads }: Threads, dialect) =>
  selectNotes(db, { type, id }).where(inThreads({ type, id, threads }, dialect)).orderBy('id').compile(),
);

/** By their ids only: with their target, SQLite would read all notes of it. */
const standaloneNotes = compiled((db, { alone }: Pick<Comments, 'alone'>, { oneOf }) =>
  db.selectFrom('notes').selectAll().where(oneOf('id', alone)).orderBy('id').compile(),
);

const notesOfBoth = compiled((db, { type, id, threads, alone }: Threads & Comments, dialect) =>
  selectNotes(db, { type, id })
    .where((is) => is.or([inThreads({ type, id, threads }, dialect), isAlone({ type, id, alone }, dialect)]))
    .orderBy('id')
    .compile(),
);

const loadNotesOfLeads = async (db: Reader, { type, id }: TargetKey, leads: Lead[]): Promise<NoteRow[]> => {
  const threads = leads.flatMap(({ discussion_id }) => discussion_id ?? []);
  const alone = leads.filter((lead) => lead.discussion_id === null).map(({ first_id }) => first_id);
  if (alone.length === 0) return await notesOfThreads(db, { type, id, threads });
  if (threads.length === 0) return await standaloneNotes(db, { alone });
  return await notesOfBoth(db, { type, id, threads, alone });
};

/** A standalone comment is a separate discussion. */
const countDiscussions = (listed: Listed) =>
  compiledWithValues((db, { type, id }: TargetKey) =>
    sql<{ total: number }>`
      select count(distinct discussion_id) + count(case when discussion_id is null then 1 end) as total
      from notes where ${isListed(db, { type, id }, listed)}`.compile(db),
  );

type Shape = Pick<PageRequest, 'limit'> & { filter: ActivityFilter };

/**
 * Selects the first note of each discussion in the order of the creation index, so that a page reads only its own rows.
 */
const selectLeads = (listed: Listed, limit: number) =>
  compiledWithValues((db, { type, id, offset }: TargetKey & { offset: number }, { indexedBy }) => {
    const ofTarget = isListed(db, { type, id }, listed);
    return sql<Lead>`
      select lead.id as first_id, lead.discussion_id
      from (select id, discussion_id, created_at from notes where ${ofTarget}) as lead
      where lead.discussion_id is null or not exists (
        select 1 from notes ${indexedBy('notes_discussion')}
        where notes.discussion_id = lead.discussion_id and notes.discussion_id is not null
          and (notes.created_at, notes.id) < (lead.created_at, lead.id) and ${ofTarget})
      order by lead.created_at, lead.id limit ${sql.lit(limit)} offset ${offset}`.compile(db);
  });

type Queries = { leads: ReturnType<typeof selectLeads>; total: ReturnType<typeof countDiscussions> };

/** Filters and lengths of pages whose queries are kept for a viewer. */
const maxShapes = 10;

/** The conditions of a viewer take longer to build than the notes of an issue take to read. */
const queriesOf = memoizePerStore((_viewer: Viewer) => makeLruCache<Queries>(maxShapes, () => 1));

const getQueries = (viewer: Viewer, { filter, limit }: Shape): Queries => {
  const queries = queriesOf(viewer);
  const key = `${filter} ${limit}`;
  const existing = queries.get(key);
  if (existing !== undefined) return existing;
  const listed = { viewer, filter };
  const made = { leads: selectLeads(listed, limit), total: countDiscussions(listed) };
  queries.set(key, made);
  return made;
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
  const { db, viewer } = reader;
  const { type, id } = target;
  const queries = getQueries(viewer, { filter, limit: page.limit });
  const rows = await queries.leads(db, { type, id, offset: page.offset });
  const count = async () => (await queries.total(db, { type, id }))[0] ?? { total: 0 };
  const { items: leads, total } = await withTotal(page, rows, count);
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

const unresolvedQueries = memoizePerStore((viewer: Viewer) =>
  compiledWithValues((db, { type, id }: TargetKey) =>
    unresolved(db, { type, id }).where(visibleNotes(db, viewer)).orderBy('id').limit(maxOpenNotes).compile(),
  ),
);

/** Lists the unresolved discussions of a target that the viewer sees, the oldest first, each with its open notes. */
export const unresolvedDiscussions = async (
  { db, viewer }: NoteReader,
  { type, id }: TargetKey,
): Promise<Discussion[]> => {
  const notes = await unresolvedQueries(viewer)(db, { type, id });
  return [...groupByDiscussion(notes).values()];
};
