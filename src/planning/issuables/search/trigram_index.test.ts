/** PostgreSQL's indexes of trigrams: they answer searches, and an instance without the extension works anyway. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { connectToServer, onServer, openTestStore } from '../../../../test/support/databases/store.ts';
import { engine } from '../../../../test/support/service.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { type Store, openStore } from '../../../platform/db/open.ts';
import { systemClock } from '../../../platform/time.ts';

const indexes = async ({ db }: Store): Promise<string[]> => {
  const { rows } = await sql<{ indexname: string }>`select indexname from pg_indexes
    where schemaname = current_schema() and indexname like '%trigrams' order by 1`.execute(db);
  return rows.map(({ indexname }) => indexname);
};

describe('the indexes of trigrams of PostgreSQL', { skip: engine !== 'postgres' }, () => {
  it('answer a search for a part of a text', async () => {
    const { store, close } = await openTestStore();
    await migrate(store);
    const names = await indexes(store);
    for (const table of ['issue_search', 'merge_request_search']) {
      assert.ok(names.includes(`${table}_trigrams`), table);
      const plan = await store.write(async ({ db }) => {
        await sql`set local enable_seqscan = off`.execute(db);
        const explained = sql<object>`explain select 1 from ${sql.table(table)}
          where title like ${'%needle%'} escape '\\' or description like ${'%needle%'} escape '\\'`;
        return JSON.stringify((await explained.execute(db)).rows);
      });
      assert.match(plan, new RegExp(`Bitmap Index Scan on ${table}_trigrams`));
    }
    await close();
  });

  it('are left out where the extension may not be created', async () => {
    const name = `plain_${randomBytes(6).toString('hex')}`;
    const { options, close } = await openTestStore({ isEmpty: true });
    await onServer(`create role ${name} login password 'plain'`);
    await onServer(`create database ${name}`);
    const url = new URL(options.url ?? '');
    url.pathname = `/${name}`;
    const admin = await connectToServer(url.href);
    await admin.query(`create schema ${name} authorization ${name}`);
    await admin.end();
    url.username = name;
    url.password = 'plain';
    const store = await openStore({ ...options, url: url.href, schema: name, connections: 1 }, systemClock);
    try {
      await migrate(store);
      assert.deepEqual(await indexes(store), []);
    } finally {
      await store.close();
      await close();
      await onServer(`drop database ${name} with (force)`);
      await onServer(`drop role ${name}`);
    }
  });
});
