/** Compares the declared columns of issues and merge requests with the database. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sql } from 'kysely';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { editParams } from '../../planning/issuables/fields.ts';
import { issueFields } from '../../planning/issues/fields.ts';
import { columnChanges } from '../../outgoing/payloads/changes.ts';
import { mergeRequestFields } from './fields.ts';

let test: TestStore;
before(async () => {
  test = await openTestStore();
});
after(async () => await test.close());

const listColumns = (fields: object): string[] =>
  Object.entries(fields).flatMap(([name, field]) => ('derive' in field ? [] : [name]));

const readColumns = async (table: 'issues' | 'merge_requests'): Promise<string[]> => {
  const { db, dialect } = test.store;
  const { rows } = await (
    dialect.engine === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_info(${table})`
      : sql<{ name: string }>`select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table}`
  ).execute(db);
  return rows.map(({ name }) => name).toSorted();
};

for (const [table, fields] of [
  ['issues', issueFields],
  ['merge_requests', mergeRequestFields],
] as const) {
  it(`declares every column of ${table} and no other`, async () =>
    assert.deepEqual(listColumns(fields).toSorted(), await readColumns(table)));

  it(`says what webhooks send of a change of every column of ${table}`, async () => {
    const columns = await readColumns(table);
    assert.deepEqual(
      columns.filter((name) => !Object.hasOwn(columnChanges, name)),
      [],
    );
  });

  it(`includes each column that clients can set in the JSON of ${table}`, () => {
    const hidden = Object.entries(fields).filter(
      ([, field]) => 'set' in field && !('json' in field && field.json !== null),
    );
    assert.deepEqual(hidden, []);
    assert.notDeepEqual(editParams(fields), {});
  });
}

it('says of every column of issues whether an issue that moves keeps it, and whether a clone has it', () => {
  const undecided = Object.entries(issueFields).filter(
    ([, field]) => !('derive' in field || ('moves' in field && 'clones' in field)),
  );
  assert.deepEqual(undecided, []);
});
