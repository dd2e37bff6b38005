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
  const objects = all('select type, name, tbl_name, sql from sqlite_schema order by type, name');
  const tables = objects.filter(({ type, name }) => type === 'table' && !String(name).startsWith('sqlite_'));
  const statistics = all('select * from sqlite_stat1 order by tbl, idx');
  return [
    objects,
    statistics,
    ...tables.map(({ name }) => [name, all(`select * from "${String(name)}" order by 1`)]),
  ];
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

test('the planner knows that nearly all records have no time of deletion', () => {
  const db = open(describeNewDatabase(migrationTexts).statements);
  const query = `select name from sqlite_schema as one
    where type = 'index' and 'deleted_at' = (select name from pragma_index_info(one.name) where seqno = 0)
      and name not in (select idx from sqlite_stat1)`;
  assert.deepEqual(db.prepare(query).all(), [], 'add these to a migration, as 0182_planner_statistics does');
  db.close();
});

test('the build fails where a migration fills another table than the one that is copied', () => {
  const filling = {
    name: '9999_filling',
    statements: () => ['create table t (a)', 'insert into t values (1)'],
  };
  assert.throws(() => describeNewDatabase([...migrationTexts, filling]), /leave rows in t$/);
});
