import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { SnippetsTable } from '../db/schema.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { allOf } from '../access/visible.ts';
import { type Home, missing } from './home.ts';
import { visibleSnippets } from './visible.ts';

/** Everything but its text, which may be long. */
const columns = [
  'id',
  'project_id',
  'author_id',
  'title',
  'file_name',
  'description',
  'visibility',
  'created_at',
  'updated_at',
] as const;

export type SnippetRow = Pick<Selectable<SnippetsTable>, (typeof columns)[number]>;

/** Times in milliseconds. */
export type SnippetTimes = { created_after?: number | undefined; created_before?: number | undefined };

export type SnippetFilter = SnippetTimes & { of: 'own' | 'public' | 'all' };

const createdWithin = ({ created_after: after, created_before: before }: SnippetTimes): RawBuilder<boolean> =>
  allOf([
    sql<boolean>`1 = 1`,
    ...(after === undefined ? [] : [sql<boolean>`snippets.created_at >= ${after}`]),
    ...(before === undefined ? [] : [sql<boolean>`snippets.created_at <= ${before}`]),
  ]);

const conditionOf = ({ viewer }: Call, filter: SnippetFilter): RawBuilder<boolean> => {
  const created = createdWithin(filter);
  if (filter.of === 'public') return allOf([sql<boolean>`snippets.visibility = 'public'`, created]);
  return filter.of === 'own'
    ? allOf([sql<boolean>`snippets.author_id = ${viewer.user_id}`, created])
    : created;
};

/** Snippets that the caller sees there, the newest first. */
export const listSnippets = async (
  call: Call,
  home: Home,
  filter: SnippetFilter,
  { limit, offset }: PageRequest,
): Promise<Page<SnippetRow>> => {
  const query = call.db
    .selectFrom('snippets')
    .where(visibleSnippets(call.viewer, home))
    .where(conditionOf(call, filter));
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query.select(columns).orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { items, total };
};

/** Every snippet of the instance with the path of its project, the newest first: for administrators. */
export const listAllSnippets = async (
  db: Reader,
  times: SnippetTimes,
  { limit, offset }: PageRequest,
): Promise<Page<SnippetRow & { full_path: string | null }>> => {
  const query = db
    .selectFrom('snippets')
    .leftJoin('projects', 'projects.id', 'snippets.project_id')
    .where('projects.deleted_at', 'is', null)
    .where(createdWithin(times));
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query
    .select(columns.map((name) => `snippets.${name}` as const))
    .select('projects.full_path')
    .orderBy('snippets.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

/**
 * One that the caller sees there.
 * @throws Failure 404 `404 Snippet Not Found`
 */
export const findSnippet = async (
  { viewer }: Call,
  db: Reader,
  home: Home,
  id: number,
): Promise<SnippetRow> => {
  const row = await db
    .selectFrom('snippets')
    .select(columns)
    .where('id', '=', id)
    .where(visibleSnippets(viewer, home))
    .executeTakeFirst();
  if (row === undefined) throw missing();
  return row;
};

/** Changes of one snippet come one after the other: each starts from what the one before it left. */
export const lockSnippet = async ({ db, words }: Tx, id: number): Promise<void> => {
  await db.selectFrom('snippets').select('id').where('id', '=', id).modifyEnd(words.forUpdate).execute();
};

export const contentOf = async (db: Reader, id: number): Promise<string> => {
  const row = await db.selectFrom('snippets').select('content').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw missing();
  return row.content;
};

export const agentOf = async (db: Reader, id: number) => {
  const row = await db
    .selectFrom('snippets')
    .select(['user_agent', 'ip_address'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw missing();
  return row;
};
