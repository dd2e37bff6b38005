import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sqliteDdl } from './ddl_keywords.ts';
import { migrationTexts } from './migrations/list.ts';
import { describeNewDatabase } from './new_database.ts';

const open = (statements: readonly string[]): DatabaseSync => {
  const db = new DatabaseSync(':memory:');
  for (const statement of statements) db.exec(statement);
  return db;
};

/** Everything that the schema names, and the rows of all tables. */
const contentOf = (db: DatabaseSync): unknown[] => {
  const all = (query: string): Record<string, unknown>[] => db.prepare(query).all();
  const objects = all(`select type, name, tbl_name, sql from sqlite_schema
    where name <> 'sqlite_stat1' order by type, name`);
  const tables = objects.filter(({ type, name }) => type === 'table' && !String(name).startsWith('sqlite_'));
  return [objects, ...tables.map(({ name }) => [name, all(`select * from "${String(name)}" order by 1`)])];
};

test('the statements make what the migrations make', () => {
  const { migrations, statements } = describeNewDatabase(migrationTexts);
  const one = open(migrationTexts.flatMap((migration) => migration.statements(sqliteDdl)));
  const other = open(statements);
  assert.deepEqual(contentOf(other), contentOf(one));
  assert.deepEqual(
    migrations,
    migrationTexts.map(({ name }) => name),
  );
  one.close();
  other.close();
});

test('the planner has statistics of indexes by the time of deletion and of the trackers of a project', () => {
  const db = open(describeNewDatabase(migrationTexts).statements);
  const all = (query: string): unknown[] => db.prepare(query).all();
  const first = '(select name from pragma_index_info(one.name) where seqno = 0)';
  assert.deepEqual(
    all(`select name from sqlite_schema as one
      where type = 'index' and name not in (select idx from sqlite_stat1) and (${first} = 'deleted_at'
        or (${first} = 'project_id' and tbl_name in ('issues', 'merge_requests')))`),
    [],
    'add these to sqlite/planner_statistics.ts',
  );
  assert.deepEqual(
    all('select tbl, idx, stat from sqlite_stat1 where idx not in (select name from sqlite_schema)'),
    [],
  );
  // The rows of the index, and of prefixes of its columns.
  assert.deepEqual(
    all(`select idx, stat from sqlite_stat1 where length(stat) - length(replace(stat, ' ', ''))
      > (select count(*) from pragma_index_info(idx))`),
    [],
  );
  db.close();
});

test('a search among issues that are due reads them by their ids', () => {
  const db = open(describeNewDatabase(migrationTexts).statements);
  for (const due of ['due_date is not null', "due_date >= '2020-01-01' and due_date <= '2020-01-31'"]) {
    const plan = db
      .prepare(
        `explain query plan select id from issues where project_id = 1 and deleted_at is null and ${due}
          and id in (select rowid from issue_search_index where issue_search_index match 'needle'
            and rowid not in (select issue_id from issue_search where indexed = 0)
            union all select issue_id from issue_search where indexed = 0 and title like '%needle%')
          order by created_at desc`,
      )
      .all()
      .map(({ detail }) => String(detail));
    assert.deepEqual(plan.slice(0, 1), ['SEARCH issues USING INTEGER PRIMARY KEY (rowid=?)'], due);
  }
  db.close();
});

test('the build fails where a migration fills another table than the one that is copied', () => {
  const filling = {
    name: '9999_filling',
    statements: () => ['create table t (a)', 'insert into t values (1)'],
  };
  assert.throws(() => describeNewDatabase([...migrationTexts, filling]), /leave rows in t$/);
});
