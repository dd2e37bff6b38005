/** Searches the indexed code of default branches. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { allOf, anyOf, readableCode } from '../../core/access/visible.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';
import { readMany } from '../../planning/issuables/lists/run_long_read.ts';
import { indexedPhrases, quotePhrase } from '../../planning/issuables/search/indexed_phrases.ts';
import { lowerAscii } from '../../platform/unicode.ts';
import { parseCodeQuery } from './code_query.ts';
import { makeExcerpt } from './excerpt.ts';

type Condition = RawBuilder<boolean>;

export const foundBlobShape = object({
  basename: string,
  data: string,
  path: string,
  filename: string,
  id: nullable(string),
  ref: string,
  startline: int,
  project_id: int,
});

type FoundFile = {
  path: string;
  content: string | null;
  project_id: number;
  /** The branch, tag or commit that was searched. */
  ref: string;
};

/** The tables to read, with the condition that the path or the content of a file contains the text. */
const filesWith = (
  { engine }: SqlDialect,
  text: string,
): { tables: RawBuilder<unknown>; condition: Condition } => {
  const contained = anyOf([containsText('code_files.path', text), containsText('code_files.content', text)]);
  if (engine === 'postgres') {
    return { tables: sql`code_files cross join projects`, condition: contained };
  }
  const { texts, areExact } = indexedPhrases([lowerAscii(text)]);
  const match = texts.map(quotePhrase).join(' AND ');
  return {
    // `cross join` makes SQLite read the index first.
    tables: sql`code_files_index cross join code_files cross join projects`,
    condition: allOf([
      sql<boolean>`code_files_index match ${match}`,
      sql<boolean>`code_files.id = code_files_index.rowid`,
      ...(areExact ? [] : [contained]),
    ]),
  };
};

const hasPath = (patterns: readonly string[]): Condition =>
  anyOf(patterns.map((pattern) => sql<boolean>`lower(code_files.path) like ${pattern} escape '\\'`));

/** @param content null if only the path is known */
export const foundBlobJson = ({ path, content, project_id, ref }: FoundFile, text: string) => {
  const { data, startline } = makeExcerpt(content ?? '', text);
  return {
    basename: path.replace(/(?<=[^/])\.[^./]*$/, ''),
    data: content === null ? '' : data,
    path,
    filename: path,
    id: null,
    ref,
    startline,
    project_id,
  };
};

export type FoundBlob = ReturnType<typeof foundBlobJson>;

/**
 * Lists the files whose content or path contains a text, in projects whose code the caller may read.
 * @param within further conditions on `projects`
 * @throws Failure 400 for a text that is too short
 */
export const searchCode = async (
  call: Call,
  { search, within }: { search: string; within: readonly Condition[] },
  { limit, offset }: PageRequest,
): Promise<Page<FoundBlob>> => {
  const { dialect } = call.platform.store;
  const { text, paths } = parseCodeQuery(search);
  const { tables, condition } = filesWith(dialect, text);
  const where = allOf([
    condition,
    sql<boolean>`projects.id = code_files.project_id`,
    ...paths.map(hasPath),
    readableCode(call.viewer, dialect),
    ...within,
  ]);
  const from = sql`from ${tables} where ${where}`;
  const [files, counted] = await Promise.all([
    readMany(call, {
      query: sql<FoundFile>`select code_files.path, code_files.content, code_files.project_id,
          projects.default_branch as ref
        ${from} order by code_files.project_id, code_files.path limit ${limit} offset ${offset}`,
      maxRecords: null,
    }),
    readMany(call, { query: sql<{ total: number }>`select count(*) as total ${from}`, maxRecords: null }),
  ]);
  return { items: files.map((file) => foundBlobJson(file, text)), total: counted[0]?.total ?? 0 };
};
