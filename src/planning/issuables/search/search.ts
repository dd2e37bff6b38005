/**
 * Search in titles and descriptions: exact substrings, case-insensitive. Every record's folded text is in
 * `issue_search` or `merge_request_search`, written with the record; an index of trigrams makes the search quick at
 * scale. On SQLite it is filled in the background (`fill_search_index.ts`). Texts that are not indexed yet are compared
 * directly, so that results are always exact.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { anyOf } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { containsExactly } from '../../../platform/db/contains_text.ts';
import { insertRows } from '../../../platform/db/insert.ts';
import type { Store, Tx } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { foldCase } from '../../../platform/unicode.ts';
import { indexedPhrases, quotePhrase } from './indexed_phrases.ts';
import { searchTerms } from './terms.ts';

/** Tables of the texts of a kind. */
export const searchTables = {
  Issue: { table: 'issue_search', id: 'issue_id', records: 'issues' },
  MergeRequest: { table: 'merge_request_search', id: 'merge_request_id', records: 'merge_requests' },
} as const;

export type SearchTable = (typeof searchTables)[TargetType];

/** Event that a transaction publishes when texts are pending for the index. */
export const searchTopic = 'search';

type FoldedText = { id: number; title: string; description: string };

const textUpdate = ({ table, id: column }: SearchTable) =>
  compiled((db, { id, title, description }: FoldedText) =>
    sql`update ${sql.raw(table)} set title = ${title}, description = ${description}, indexed = 0
      where ${sql.raw(column)} = ${id}`.compile(db),
  );

const updateText = {
  Issue: textUpdate(searchTables.Issue),
  MergeRequest: textUpdate(searchTables.MergeRequest),
};

/** Stores the searchable text of a record. */
export const storeSearchText = async (
  tx: Tx,
  type: TargetType,
  record: { id: number; title: string; description: string | null },
  isNew: boolean,
): Promise<void> => {
  const { title, description } = record;
  const text = { title: foldCase(title), description: foldCase(description ?? '') };
  tx.announce(searchTopic);
  if (isNew) {
    if (type === 'Issue') await insertRows(tx.db, 'issue_search', [{ issue_id: record.id, ...text }]);
    else await insertRows(tx.db, 'merge_request_search', [{ merge_request_id: record.id, ...text }]);
    return;
  }
  await updateText[type](tx.db, { id: record.id, ...text });
};

/** The texts of a record that a search can be limited to. */
export const searchFields = ['title', 'description'] as const;
export type SearchField = (typeof searchFields)[number];

/** Every term in one of the fields. */
const comparesWith = (
  { table }: SearchTable,
  terms: string[],
  fields: readonly SearchField[],
): RawBuilder<boolean> => {
  const everyIn = (column: SearchField): RawBuilder<boolean> =>
    sql`(${sql.join(
      terms.map((term) => containsExactly(sql.ref(`${table}.${column}`), term)),
      sql` and `,
    )})`;
  return anyOf(fields.map(everyIn));
};

/** Over the kind's table: records that a search of these fields does not find; null for an empty search. */
export const missedBySearch = (
  type: TargetType,
  text: string,
  fields: readonly SearchField[],
): RawBuilder<boolean> | null => {
  const searchTable = searchTables[type];
  const terms = searchTerms(text);
  if (terms.length === 0) return null;
  return sql`not exists (select 1 from ${sql.table(searchTable.table)}
    where ${sql.ref(`${searchTable.table}.${searchTable.id}`)} = ${sql.ref(`${searchTable.records}.id`)}
      and ${comparesWith(searchTable, terms, fields)})`;
};

const shortestIndexed = 3;

/**
 * Returns whether a search has a term that no index contains, so that every text is compared. PostgreSQL does that
 * outside of this process.
 */
export const isUnindexed = ({ dialect }: Store, text: string): boolean =>
  dialect.engine === 'sqlite' && searchTerms(text).some((term) => [...term].length < shortestIndexed);

/** The terms in the words of the trigram index. */
const matchExpression = (phrases: string[], fields: readonly SearchField[]): string => {
  const allPhrases = phrases.map(quotePhrase).join(' AND ');
  return fields.map((field) => `({${field}} : (${allPhrases}))`).join(' OR ');
};

/** Over the kind's table: records that a search finds; none for an empty search. */
export const searchCondition = async (
  { platform: { store } }: Call,
  type: TargetType,
  text: string,
  fields: readonly SearchField[],
): Promise<RawBuilder<boolean>[]> => {
  const searchTable = searchTables[type];
  const { dialect } = store;
  const terms = searchTerms(text);
  if (terms.length === 0) return [];
  const table = sql.raw(searchTable.table);
  const index = sql.raw(`${searchTable.table}_index`);
  const idColumn = sql.raw(searchTable.id);
  const record = sql.raw(`${searchTable.records}.id`);
  const matching = comparesWith(searchTable, terms, fields);
  if (isUnindexed(store, text)) {
    // No index holds it: a page compares records in its own order, and ends when it is full.
    return [sql`exists (select 1 from ${table} where ${table}.${idColumn} = ${record} and ${matching})`];
  }
  if (dialect.engine === 'postgres') {
    return [sql`${record} in (select ${idColumn} from ${table} where ${matching})`];
  }
  const phrases = indexedPhrases(terms);
  // The phrases leave out the order of what repeats, so the texts themselves are compared too.
  const compared = phrases.areExact
    ? sql``
    : sql`and exists (select 1 from ${table} where ${table}.${idColumn} = ${index}.rowid and ${matching})`;
  // For a changed text, the index still has the old words, so waiting texts are always compared.
  const waiting = sql`${table} ${dialect.indexedBy(`${searchTable.table}_waiting`)} where indexed = 0`;
  return [
    sql`${record} in (
    select rowid from ${index}
      where ${index} match ${matchExpression(phrases.texts, fields)}
        and rowid not in (select ${idColumn} from ${waiting}) ${compared}
    union all
    select ${idColumn} from ${waiting} and ${matching})`,
  ];
};
