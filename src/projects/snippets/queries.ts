import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { allOf, anyOf } from '../../core/access/visible.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { type Home, missing } from './snippet_home.ts';
import { visibleSnippets, visibleSnippetsAnywhere } from './visible.ts';
import { type SnippetRow, snippetColumns } from './snippet_row.ts';

/** Times in milliseconds. */
export type SnippetTimes = { created_after?: number | undefined; created_before?: number | undefined };

export type SnippetFilter = SnippetTimes & {
  of: 'own' | 'public' | 'all';
  /** A text in the title or in the name of a file. */
  search?: string;
};

const createdWithin = ({ created_after: after, created_before: before }: SnippetTimes): RawBuilder<boolean> =>
  allOf([
    sql<boolean>`1 = 1`,
    ...(after === undefined ? [] : [sql<boolean>`snippets.created_at >= ${after}`]),
    ...(before === undefined ? [] : [sql<boolean>`snippets.created_at <= ${before}`]),
  ]);

/** Over `snippets`: the title or the name of a file contains a text. */
const namesContain = (search: string): RawBuilder<boolean> =>
  anyOf([
    containsText('snippets.title', search),
    containsText('snippets.file_name', search),
    sql<boolean>`exists (select 1 from snippet_files
      where snippet_files.snippet_id = snippets.id and ${containsText('snippet_files.path', search)})`,
  ]);

const makeCondition = ({ viewer }: Call, { of, search = '', ...times }: SnippetFilter): RawBuilder<boolean> =>
  allOf([
    createdWithin(times),
    ...(search === '' ? [] : [namesContain(search)]),
    ...(of === 'public' ? [sql<boolean>`snippets.visibility = 'public'`] : []),
    ...(of === 'own' ? [sql<boolean>`snippets.author_id = ${viewer.user_id}`] : []),
  ]);

/** Lists the visible snippets of a home, newest first. */
export const listSnippets = async (
  call: Call,
  home: Home,
  filter: SnippetFilter,
  { limit, offset }: PageRequest,
): Promise<Page<SnippetRow>> => {
  const query = call.db
    .selectFrom('snippets')
    .where(visibleSnippets(call.viewer, home))
    .where(makeCondition(call, filter));
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query
    .select(snippetColumns)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

type PlacedSnippet = SnippetRow & { full_path: string | null };

/** Lists all snippets of the instance with their projects' paths, newest first, for administrators. */
export const listAllSnippets = async (
  db: Reader,
  times: SnippetTimes,
  page: PageRequest,
): Promise<Page<PlacedSnippet>> =>
  await selectSnippets(db, allOf([sql<boolean>`projects.deleted_at is null`, createdWithin(times)]), {
    sort: 'desc',
    ...page,
  });

export type SnippetSearch = { search: string; sort: 'asc' | 'desc'; include_archived: boolean };

/** Lists the visible snippets of all homes whose title, or the name of a file, contains a text, by age. */
export const searchSnippets = async (
  { db, viewer, platform }: Call,
  { search, sort, include_archived }: SnippetSearch,
  page: PageRequest,
): Promise<Page<PlacedSnippet>> => {
  const where = allOf([
    visibleSnippetsAnywhere(viewer, platform.store.dialect),
    namesContain(search),
    ...(include_archived ? [] : [sql<boolean>`coalesce(projects.archived, 0) = 0`]),
  ]);
  return await selectSnippets(db, where, { sort, ...page });
};

/** @param where over `snippets` left joined with `projects` */
const selectSnippets = async (
  db: Reader,
  where: RawBuilder<boolean>,
  { sort, limit, offset }: Pick<PageRequest, 'limit' | 'offset'> & { sort: 'asc' | 'desc' },
): Promise<Page<PlacedSnippet>> => {
  const query = db
    .selectFrom('snippets')
    .leftJoin('projects', 'projects.id', 'snippets.project_id')
    .where(where);
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query
    .select(snippetColumns.map((name) => `snippets.${name}` as const))
    .select('projects.full_path')
    .orderBy('snippets.id', sort)
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

/**
 * Loads a visible snippet.
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
    .select(snippetColumns)
    .where('id', '=', id)
    .where(visibleSnippets(viewer, home))
    .executeTakeFirst();
  if (row === undefined) throw missing();
  return row;
};

/** Locks a snippet, so that concurrent changes run one after the other. */
export const lockSnippet = async ({ db, dialect }: Tx, id: number): Promise<void> => {
  await db.selectFrom('snippets').select('id').where('id', '=', id).modifyEnd(dialect.forUpdate).execute();
};

/** Loads the text of the first file. */
export const loadContent = async (db: Reader, id: number): Promise<string> => {
  const row = await db.selectFrom('snippets').select('content').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw missing();
  return row.content;
};

export const loadUserAgent = async (db: Reader, id: number) => {
  const row = await db
    .selectFrom('snippets')
    .select(['user_agent', 'ip_address'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw missing();
  return row;
};
