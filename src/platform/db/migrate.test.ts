/** Migrations: all or nothing, once, and never backwards. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  connectToServer,
  onServer,
  openTestStore,
  type TestStore,
} from '../../../test/support/databases/store.ts';
import { StartFailure } from '../errors.ts';
import { indexMigration } from './concurrent_indexes.ts';
import type { MigrationText } from './ddl_keywords.ts';
import { appliedMigrations, migrate, pendingMigrations } from './migrate.ts';
import { migrationTexts } from './migrations/list.ts';
import { type Store, openStore } from './open.ts';

let test: TestStore;
beforeEach(async () => void (test = await openTestStore({ isEmpty: true })));
afterEach(async () => await test.close());

const isPostgres = process.env['GANTRY_TEST_DATABASE_URL'] !== undefined;
const all = migrationTexts.map(({ name }) => name);

const tables = async ({ store }: TestStore = test): Promise<string[]> => {
  const query = isPostgres
    ? sql<{
        name: string;
      }>`select tablename as name from pg_tables where schemaname = current_schema() order by 1`
    : sql<{
        name: string;
      }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by 1`;
  const { rows } = await query.execute(store.db);
  return rows.map(({ name }) => name);
};

const extra = (name: string, ...statements: string[]): MigrationText => ({
  name,
  statements: () => statements,
});

describe('migrate', () => {
  it('migrates an empty database to the latest version, and leaves a current one unchanged', async () => {
    assert.equal(await appliedMigrations(test.store), null);
    assert.deepEqual(await migrate(test.store), all);
    assert.deepEqual(await appliedMigrations(test.store), all);
    const before = await tables();
    assert.ok(before.includes('issues'));
    assert.deepEqual(await migrate(test.store), []);
    assert.deepEqual(await tables(), before);
  });

  it('applies new migrations in order and keeps existing data', async () => {
    await migrate(test.store);
    await test.store.write(
      async ({ db }) => await sql`insert into instance values ('kept', 'yes')`.execute(db),
    );
    const texts = [
      ...migrationTexts,
      extra('9998_next', 'create table next_one (id integer)'),
      extra('9999_last', 'insert into next_one values (1)'),
    ];
    assert.deepEqual(await migrate(test.store, texts), ['9998_next', '9999_last']);
    const { rows } = await sql<{ value: string }>`select value from instance where name = 'kept'`.execute(
      test.store.db,
    );
    assert.equal(rows[0]?.value, 'yes');
    assert.deepEqual(pendingMigrations(all, texts), ['9998_next', '9999_last']);
  });

  it('starts the grace period of groups that already require a second factor', async () => {
    const at = migrationTexts.findIndex(({ name }) => name === '0047_required_second_factor');
    await migrate(test.store, migrationTexts.slice(0, at));
    const group = (name: string, required: number) =>
      sql`insert into namespaces (kind, path, full_path, name, description, visibility, created_at, updated_at,
        require_two_factor_authentication) values ('group', ${name}, ${name}, ${name}, '', 'public', 1, 1, ${required})`;
    await test.store.write(async ({ db }) => {
      await group('strict', 1).execute(db);
      await group('lax', 0).execute(db);
    });
    const before = Date.now();
    await migrate(test.store, migrationTexts.slice(0, at + 1));
    const { rows } = await sql<{
      since: number | null;
    }>`select two_factor_required_at as since from namespaces order by id`.execute(test.store.db);
    const [strict, lax] = rows;
    assert.ok(strict?.since !== null && Math.abs((strict?.since ?? 0) - before) < 600_000);
    assert.equal(lax?.since, null);
  });

  it('rolls back a migration if one statement fails', async () => {
    const texts = [
      ...migrationTexts,
      extra('9999_broken', 'create table half (id integer)', 'create nonsense'),
    ];
    await assert.rejects(migrate(test.store, texts));
    assert.deepEqual(await tables(), []);
    assert.equal(await appliedMigrations(test.store), null);
    assert.deepEqual(await migrate(test.store), all);
  });

  it('runs once when many services start together', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => openStore(test.options, test.clock)));
    const applied = await Promise.all([test.store, ...others].map((store) => migrate(store)));
    assert.deepEqual(applied.flat(), all);
    await Promise.all(others.map((store) => store.close()));
  });

  it('keeps the limits of users, and gives the others the current default', async () => {
    const before = migrationTexts.filter(({ name }) => name < '0042');
    await migrate(test.store, before);
    const user = (id: number, admin: 0 | 1, limit: number | null) => sql`
      insert into users (id, username, name, email, state, admin, external, can_create_group, projects_limit,
        search_text, created_at, updated_at)
      values (${id}, ${`u${id}`}, 'x', ${`u${id}@example.com`}, 'active', ${admin}, 0, 1, ${limit}, 'x', 1, 1)`;
    await test.store.write(async ({ db }) => {
      await sql`insert into settings (name, value, updated_at, updated_by_id)
        values ('default_projects_limit', '2', 1, null)`.execute(db);
      await user(1, 1, null).execute(db);
      await user(2, 0, null).execute(db);
      await user(3, 0, 7).execute(db);
    });
    await migrate(test.store);
    const users = await test.store.db.selectFrom('users').select('projects_limit').orderBy('id').execute();
    assert.deepEqual(
      users.map(({ projects_limit }) => projects_limit),
      [100_000, 2, 7],
    );
  });

  it('recognizes its own tables among others on the server', { skip: !isPostgres }, async () => {
    await onServer('create table public.migrations (id integer)');
    try {
      assert.equal(await appliedMigrations(test.store), null);
      assert.deepEqual(await migrate(test.store), all);
    } finally {
      await onServer('drop table public.migrations');
    }
  });

  it('may take longer than any statement of a request', { skip: !isPostgres }, async () => {
    await test.store.write(async ({ db }) => await sql`set statement_timeout = 200`.execute(db));
    await migrate(test.store, [extra('0001_slow', 'select pg_sleep(0.4)')]);
  });
});

describe('a migration of indexes', () => {
  const withIndex = (isUnique = false): MigrationText[] => [
    ...migrationTexts,
    indexMigration('9999_index', [
      { name: 'instance_by_value', on: "instance (value) where name in ('a', 'b')", isUnique },
    ]),
  ];

  const insert = async (name: string, value: string): Promise<void> =>
    await test.store.write(
      async ({ db }) => void (await sql`insert into instance values (${name}, ${value})`.execute(db)),
    );

  const hasIndex = async (): Promise<boolean> => {
    const query = isPostgres
      ? sql<{ valid: boolean }>`select indisvalid as valid from pg_index
          where indexrelid = to_regclass('instance_by_value')`
      : sql<{ valid: number }>`select 1 as valid from sqlite_schema where name = 'instance_by_value'`;
    const { rows } = await query.execute(test.store.db);
    return Boolean(rows[0]?.valid);
  };

  it('is applied in its turn to a new database, and later to one in use', async () => {
    assert.deepEqual(await migrate(test.store, withIndex()), [...all, '9999_index']);
    assert.equal(await hasIndex(), true);
  });

  it('lets other processes write meanwhile', { skip: !isPostgres }, async () => {
    await migrate(test.store);
    const [open, looking] = [await connectToServer(), await connectToServer()];
    try {
      await open.query(
        `set search_path = ${test.options.schema}; begin; insert into instance values ('a', 'b')`,
      );
      const done = migrate(test.store, withIndex());
      const builds = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and query ilike 'create index concurrently instance_by_value%'`;
      for (let looks = 0; (await looking.query(builds)).rowCount !== 1; looks += 1) {
        assert.ok(looks < 2_000, 'the index waits for the transaction');
        await new Promise((resolve) => void setTimeout(resolve, 5));
      }
      await insert('c', 'd');
      await open.query('commit');
      assert.deepEqual(await done, ['9999_index']);
    } finally {
      await Promise.all([open.end(), looking.end()]);
    }
    assert.equal(await hasIndex(), true);
  });

  it('goes on after a failure, once for all services', { skip: !isPostgres }, async () => {
    await migrate(test.store);
    await insert('a', 'same');
    await insert('b', 'same');
    const texts = [...withIndex(true), extra('9998_beside', 'create table beside (id integer)')];
    await assert.rejects(migrate(test.store, texts), /duplicate|unique/i);
    assert.equal(await hasIndex(), false);
    assert.deepEqual(pendingMigrations((await appliedMigrations(test.store)) ?? [], texts), ['9999_index']);
    await test.store.write(async ({ db }) => await sql`delete from instance where name = 'b'`.execute(db));
    const other = await openStore(test.options, test.clock);
    const applied = await Promise.all([test.store, other].map((store) => migrate(store, texts)));
    await other.close();
    assert.deepEqual(applied.flat(), ['9999_index']);
    assert.equal(await hasIndex(), true);
  });
});

describe('a table that another transaction uses', { skip: !isPostgres }, () => {
  it('is altered once it is free, and read by others until then', async () => {
    await migrate(test.store);
    const [open, looking] = [await connectToServer(), await connectToServer()];
    const statement = 'alter table instance add column later bigint';
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query = '${statement}'`;
    const until = async (count: number): Promise<void> => {
      for (let looks = 0; (await looking.query(waits)).rowCount !== count; looks += 1) {
        assert.ok(looks < 2_000, `${count} statements wait`);
        await new Promise((resolve) => void setTimeout(resolve, 5));
      }
    };
    try {
      await open.query(`set search_path = ${test.options.schema}; begin; select 1 from instance`);
      const done = migrate(test.store, [...migrationTexts, extra('9999_column', statement)]);
      await until(1);
      await until(0);
      await looking.query(`select 1 from ${test.options.schema}.instance`);
      await open.query('commit');
      assert.deepEqual(await done, ['9999_column']);
    } finally {
      await Promise.all([open.end(), looking.end()]);
    }
  });
});

describe('a missing PostgreSQL schema', { skip: !isPostgres }, () => {
  it('can be created by many services at once', async () => {
    const schema = `${test.options.schema}_new`;
    // A transaction keeps the snapshot of its first read, so the test needs two connections.
    const [making, looking] = [await connectToServer(), await connectToServer()];
    const schemaCount = async (): Promise<number | null> =>
      (await looking.query('select 1 from pg_namespace where nspname = $1', [schema])).rowCount;
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    try {
      await making.query(`begin; select pg_advisory_xact_lock(6781203); create schema ${schema}`);
      const opening = Promise.allSettled(
        Array.from({ length: 4 }, () => openStore({ ...test.options, schema, connections: 1 }, test.clock)),
      );
      for (let looks = 0; looks < 500 && (await looking.query(waiting)).rowCount !== 4; looks += 1) {
        await new Promise((resolve) => void setTimeout(resolve, 5));
      }
      await making.query('commit');
      const opened = await opening;
      await Promise.all(opened.map(async (one) => one.status === 'fulfilled' && (await one.value.close())));
      assert.deepEqual(
        opened.map(({ status }) => status),
        Array.from({ length: 4 }, () => 'fulfilled'),
      );
      assert.equal(await schemaCount(), 1);
    } finally {
      await making.query(`rollback; drop schema if exists ${schema}`);
      await Promise.all([making.end(), looking.end()]);
    }
  });
});

describe('a database of a newer version', () => {
  const newer = [...migrationTexts, extra('9999_of_the_future', 'create table future (id integer)')];

  it('is refused with the unknown migration, and stays unchanged', async () => {
    await migrate(test.store, newer);
    const before = await tables();
    await assert.rejects(migrate(test.store), (error: Error) => {
      assert.ok(error instanceof StartFailure);
      return /newer Gantry.*9999_of_the_future/.test(error.message);
    });
    assert.deepEqual(await tables(), before);
  });

  it('is refused even if it was migrated while this version waited', async () => {
    const other = await openStore(test.options, test.clock);
    let ours: Promise<unknown> = Promise.resolve();
    const last = (): string[] => {
      ours = migrate(test.store).catch((error: unknown) => error);
      return ['create table future (id integer)'];
    };
    await migrate(other, [...migrationTexts, { name: '9999_of_the_future', statements: last }]);
    assert.ok((await ours) instanceof StartFailure);
    await other.close();
  });

  it('a database of a newer version is not changed on disk', { skip: isPostgres }, async () => {
    const { options, clock } = test;
    const file = options.file.replace('gantry.sqlite', 'newer.sqlite');
    const store = await openStore({ ...options, file }, clock);
    await migrate(store, newer);
    await store.close();
    const before = readFileSync(file);
    const again = await openStore({ ...options, file }, clock);
    await assert.rejects(migrate(again), StartFailure);
    await again.close();
    assert.ok(before.equals(readFileSync(file)));
  });
});

describe('kill -9 in the middle of a migration', () => {
  /** Migrates in a child process that kills itself before the given statement. */
  const migrateUntil = async (statement: number): Promise<string | null> => {
    const script = join(import.meta.dirname, '../../../test/support/databases/migrate_until_killed.ts');
    const { onFatal: _onFatal, ...options } = test.options;
    const child = spawn(process.execPath, [script, JSON.stringify(options), String(statement)], {
      stdio: 'inherit',
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return signal;
  };

  const statements = (): number => migrationTexts.flatMap((one) => one.statements(test.store.ddl)).length;

  for (const [when, place] of [
    ['before its first statement', () => 0],
    ['half way', () => Math.floor(statements() / 2)],
    ['before the commit', () => statements()],
  ] as const) {
    it(`leaves an empty database that can be migrated: ${when}`, async () => {
      assert.equal(await migrateUntil(place()), 'SIGKILL');
      assert.deepEqual(await tables(), []);
      assert.deepEqual(await migrate(test.store), all);
      await test.store.write(async ({ db }) => await sql`insert into instance values ('a', 'b')`.execute(db));
    });
  }
});

describe('the schema on SQLite', { skip: isPostgres }, () => {
  it('enforces types: every table is STRICT', async () => {
    await migrate(test.store);
    const { rows } = await sql<{ name: string; type: string; strict: number }>`pragma table_list`.execute(
      test.store.db,
    );
    const loose = rows.filter(
      ({ name, type, strict }) => type === 'table' && !name.startsWith('sqlite_') && strict !== 1,
    );
    assert.deepEqual(loose, []);
    assert.ok(rows.length > 20);
  });

  it('the SQLite schema has only valid foreign keys', async () => {
    await migrate(test.store);
    const { rows } = await sql`pragma foreign_key_check`.execute(test.store.db);
    assert.deepEqual(rows, []);
  });
});

describe('the statistics of the planner', { skip: isPostgres }, () => {
  type Row = { tbl: string; idx: string | null; stat: string };
  const statistics = async (): Promise<Row[]> => {
    const { rows } = await sql<Row>`select tbl, idx, stat from sqlite_stat1 order by 1, 2, 3`.execute(
      test.store.db,
    );
    return rows;
  };
  const run = async (...statements: string[]): Promise<void> =>
    await test.store.write(async ({ db }) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    });
  const ids = Array.from({ length: 30 }, (_one, at) => at);
  /** How issues are found by their ids. `explain` does not notice a change of the schema: what runs before it does. */
  const plan = async ({ db }: Store, name: string): Promise<string> => {
    await sql`select 1 from issues`.execute(db);
    const { rows } = await sql<{
      detail: string;
    }>`explain query plan select title as ${sql.id(name)} from issues
      where project_id = 1 and deleted_at is null and id in (${sql.join(ids)})`.execute(db);
    return rows.map(({ detail }) => detail).join();
  };
  /** A line of each table, as small databases have them, and one that this version has no longer. */
  const measured = [
    `insert into labels (title, color, created_at, updated_at) values ('a', 'b', 1, 1)`,
    'analyze',
    `insert into sqlite_stat1 values ('issues', 'issues_iid', '1 1'), ('issues', 'gone', '3 3'), ('issues', null, '5')`,
  ];

  it('are those of a new database, after an upgrade and after each start', async () => {
    await migrate(test.store);
    const expected = await statistics();
    assert.ok(expected.length > 20);
    await run(...measured);
    assert.notDeepEqual(await statistics(), expected);
    assert.deepEqual(await migrate(test.store), []);
    assert.deepEqual(await statistics(), expected);
    await run(`delete from sqlite_stat1 where idx = 'issues_project_due'`);
    await migrate(test.store);
    assert.deepEqual(await statistics(), expected);
  });

  it('replace measured ones at an upgrade', async () => {
    const at = migrationTexts.findIndex(({ name }) => name === '0182_planner_statistics');
    await migrate(test.store, migrationTexts.slice(0, at));
    await run(...measured);
    await migrate(test.store);
    const upgraded = await statistics();
    await run('drop table sqlite_stat1');
    await migrate(test.store);
    assert.deepEqual(await statistics(), upgraded);
  });

  it('statistics of the planner apply to every open connection at once', async () => {
    await migrate(test.store);
    await run('delete from sqlite_stat1', 'analyze sqlite_schema');
    const other = await openStore(test.options, test.clock);
    // While a transaction is open, another handle reads.
    const plans = async (name: string): Promise<string[]> => [
      await plan(other, name),
      await other.write(async () => await plan(other, name)),
    ];
    const before = await plans('before');
    await migrate(other);
    const after = await plans('after');
    await other.close();
    for (const one of before) assert.doesNotMatch(one, /PRIMARY KEY/);
    for (const one of after) assert.match(one, /PRIMARY KEY/);
  });
});
