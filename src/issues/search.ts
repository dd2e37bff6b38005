/**
 * Search in titles and descriptions: exact substrings, without case. Every issue's folded text stands in
 * `issue_search`, written with the issue; an index of trigrams makes the search quick at scale. On SQLite it is
 * filled behind the requests, and what it does not hold yet is compared itself, so that an answer is exact at once.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { foldCase, likePattern, searchTerms } from '../issuables/search_terms.ts';

/** Keeps what an issue is found by. */
export const storeSearchText = async (
  tx: Tx,
  issue: { id: number; title: string; description: string | null },
  isNew: boolean,
): Promise<void> => {
  const text = { title: foldCase(issue.title), description: foldCase(issue.description ?? '') };
  if (isNew) {
    await insertRows(tx.db, 'issue_search', [{ issue_id: issue.id, ...text }]);
    return;
  }
  await tx.db
    .updateTable('issue_search')
    .set({ ...text, indexed: 0 })
    .where('issue_id', '=', issue.id)
    .execute();
};

/** Every term in the title, or every term in the description. */
const comparesWith = (terms: string[]): RawBuilder<boolean> => {
  const everyIn = (column: string): RawBuilder<boolean> =>
    sql`(${sql.join(
      terms.map((term) => sql`${sql.ref(`issue_search.${column}`)} like ${likePattern(term)} escape '\\'`),
      sql` and `,
    )})`;
  return sql`(${everyIn('title')} or ${everyIn('description')})`;
};

const shortestIndexed = 3;
const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`;

/** The terms in the words of the trigram index. */
const matchExpression = (terms: string[]): string => {
  const all = terms.map(quoted).join(' AND ');
  return `({title} : (${all})) OR ({description} : (${all}))`;
};

/** Over `issues`: those that a search finds; none for a search of nothing. */
export const searchCondition = async (
  { platform: { store } }: Call,
  text: string,
): Promise<RawBuilder<boolean>[]> => {
  const { engine } = store.words;
  const terms = searchTerms(text);
  if (terms.length === 0) return [];
  const compared = sql`select issue_id from issue_search where ${comparesWith(terms)}`;
  const tooShort = terms.some((term) => [...term].length < shortestIndexed);
  if (engine === 'postgres' || tooShort) return [sql`issues.id in (${compared})`];
  return [
    sql`issues.id in (
    select issue_search.issue_id from issue_search_index
      join issue_search on issue_search.issue_id = issue_search_index.rowid
      where issue_search_index match ${matchExpression(terms)} and issue_search.indexed = 1
    union all
    ${compared} and indexed = 0)`,
  ];
};
