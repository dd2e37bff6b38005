/** A database of an early version with many issues and comments is migrated, without holding its rows in memory. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { fillOlderSchema } from '../../../test/support/databases/older_schema.ts';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { times } from '../../../test/support/run/sample.ts';
import { engine } from '../../../test/support/service.ts';
import { appliedMigrations, migrate } from './migrate.ts';
import { migrationTexts } from './migrations/list.ts';
import type { Store } from './open.ts';

let store: TestStore;
beforeEach(async () => void (store = await openTestStore({ isEmpty: true })));
afterEach(async () => await store.close());

/** A million take 40 processor seconds on SQLite, and most of them to write the rows. */
const issues = times(engine === 'sqlite' ? 1_000_000 : 100_000, 2_000);
/** Before the migration that counts the issues of each label. */
const early = '0033';

const seconds = 60_000;

/** Copies the first row of a table many times. @param changed expressions over the number `n`, from 2 */
const copyRow = async (table: string, changed: Readonly<Record<string, string>>): Promise<void> =>
  await store.store.write(async ({ db, dialect }) => {
    if (dialect.engine === 'postgres') await sql`set local statement_timeout = 0`.execute(db);
    const first = sql`(select * from ${sql.table(table)} limit 1) as first`;
    const { rows } = await sql<Record<string, unknown>>`select * from ${first}`.execute(db);
    const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== 'id');
    const values = columns.map((name) => sql.raw(changed[name] ?? `first.${name}`));
    await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
      with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${sql.lit(issues)})
      select ${sql.join(values)} from numbers, ${first}`.execute(db);
  });

const count = async ({ db }: Store, table: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
    db,
  );
  return Number(rows[0]?.count);
};

test('migrates many issues, reports each step, and keeps every row', { timeout: 30 * seconds }, async () => {
  await fillOlderSchema(store.store, early);
  await copyRow('issues', { iid: 'n', title: "'Issue ' || n" });
  await copyRow('notes', { body: "'Comment ' || n" });
  await copyRow('label_links', { target_id: 'n' });
  const before = process.memoryUsage().rss;
  const steps: string[] = [];
  await migrate(store.store, migrationTexts, undefined, (name, milliseconds) => {
    assert.ok(milliseconds >= 0);
    steps.push(name);
  });
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  assert.ok(grown < 200, `${grown} MiB more`);
  const all = migrationTexts.map(({ name }) => name);
  assert.deepEqual(await appliedMigrations(store.store), all);
  assert.deepEqual(new Set(steps), new Set(all.filter((name) => name >= early)));
  assert.deepEqual([await count(store.store, 'issues'), await count(store.store, 'notes')], [issues, issues]);
  const { rows } = await sql<{ total: number }>`
    select sum(opened_issues) as total from label_counts`.execute(store.store.db);
  assert.equal(Number(rows[0]?.total), issues);
});
