/** The files of a snippet: the first is in its row, the others are in `snippet_files`. */
import { sql } from 'kysely';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { missing } from './snippet_home.ts';

export type SnippetFile = {
  /** Name of the file; empty: none, of a snippet with one file. */
  path: string;
  content: string;
};

/** At least one, in order. */
export type SnippetFiles = readonly [SnippetFile, ...SnippetFile[]];

/** Loads the files of a snippet. @throws Failure 404 */
export const loadFiles = async (db: Reader, id: number): Promise<SnippetFiles> => {
  const first = await db
    .selectFrom('snippets')
    .select(['file_name as path', 'content'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (first === undefined) throw missing();
  const others = await db
    .selectFrom('snippet_files')
    .select(['path', 'content'])
    .where('snippet_id', '=', id)
    .orderBy('position')
    .execute();
  return [first, ...others];
};

/** Loads the text of one file. @throws Failure 404 if the snippet has no file of this name */
export const loadFile = async (db: Reader, id: number, path: string): Promise<string> => {
  const { rows } = await sql<{ content: string }>`
    select content from snippets where id = ${id} and file_name = ${path}
    union all select content from snippet_files where snippet_id = ${id} and path = ${path}`.execute(db);
  const [file] = rows;
  if (file === undefined) throw missing();
  return file.content;
};

/** Loads the names of the files after the first one, by id of the snippet. */
export const loadFurtherPaths = async (
  db: Reader,
  ids: readonly number[],
): Promise<Map<number, string[]>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('snippet_files')
    .select(['snippet_id', 'path'])
    .where('snippet_id', 'in', ids)
    .orderBy('snippet_id')
    .orderBy('position')
    .execute();
  const groups = Map.groupBy(rows, ({ snippet_id }) => snippet_id);
  return new Map([...groups].map(([id, files]) => [id, files.map(({ path }) => path)]));
};

/** Replaces the files after the first one. */
export const storeFurtherFiles = async (
  tx: Tx,
  snippet_id: number,
  files: readonly SnippetFile[],
): Promise<void> => {
  await tx.db.deleteFrom('snippet_files').where('snippet_id', '=', snippet_id).execute();
  const rows = files.map((file, at) => ({ snippet_id, position: at + 1, ...file }));
  await insertRows(tx.db, 'snippet_files', rows);
};
