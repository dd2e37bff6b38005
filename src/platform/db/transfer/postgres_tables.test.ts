/** Tests the copy of tables into a schema of PostgreSQL. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectToServer, openTestStore } from '../../../../test/support/databases/store.ts';
import { openPostgresWriter } from './postgres_tables.ts';

const skip = process.env['GANTRY_TEST_DATABASE_URL'] === undefined;

test('leaves tables of other schemas alone, which may be locked for long', { skip }, async () => {
  const { options, close } = await openTestStore();
  const { url = '', schema } = options;
  const server = await connectToServer(url);
  try {
    await server.query('create schema elsewhere');
    await server.query('create table elsewhere.busy as select 1 as one');
    const writer = await openPostgresWriter({ url, schema });
    await writer.commit();
    await writer.close();
    const { rows } = await server.query<{ name: string; reltuples: number }>(
      `select relname as name, reltuples from pg_class
        where oid in ('elsewhere.busy'::regclass, '${schema}.users'::regclass) order by 1`,
    );
    // -1: never analyzed.
    assert.deepEqual(rows, [
      { name: 'busy', reltuples: -1 },
      { name: 'users', reltuples: 0 },
    ]);
  } finally {
    await server.query('drop schema elsewhere cascade');
    await server.end();
    await close();
  }
});
