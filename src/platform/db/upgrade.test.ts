/** Databases of earlier versions, with rows in every table, reach the schema of this one and keep their rows. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { countOlderRows, fillOlderSchema } from '../../../test/support/databases/older_schema.ts';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { sample } from '../../../test/support/run/sample.ts';
import { appliedMigrations, migrate } from './migrate.ts';
import { migrationTexts } from './migrations/list.ts';

let store: TestStore;
beforeEach(async () => void (store = await openTestStore({ isEmpty: true })));
afterEach(async () => await store.close());

const all = migrationTexts.map(({ name }) => name);
/** Tables of earlier versions that became others. */
const replaced = new Set<string>();

for (const before of sample(all.slice(1), 12, (name) => name))
  test(`upgrades the schema before ${before}`, async () => {
    await fillOlderSchema(store.store, before);
    const counts = await countOlderRows(store.store);
    assert.ok(counts.size > 0);
    // PostgreSQL builds indexes after all other migrations.
    assert.deepEqual(new Set(await migrate(store.store)), new Set(all.filter((name) => name >= before)));
    assert.deepEqual(await appliedMigrations(store.store), all);
    const after = await countOlderRows(store.store);
    assert.deepEqual(
      [...counts].filter(([name, count]) => !replaced.has(name) && (after.get(name) ?? 0) < count),
      [],
    );
    if (store.store.dialect.engine === 'sqlite') {
      const { rows } = await sql`pragma foreign_key_check`.execute(store.store.db);
      assert.deepEqual(rows, []);
    }
  });
