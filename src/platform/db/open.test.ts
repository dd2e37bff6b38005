/** Guarantees of transactions, the same on both engines. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { sql } from 'kysely';
import { onServer, openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { compiled } from './compiled_query.ts';
import type { Reader, Tx } from './open.ts';

let test: TestStore;

before(async () => {
  test = await openTestStore({ isEmpty: true });
  await test.store.write(async ({ db }) => {
    const { integer, text, end } = test.store.ddl;
    await sql
      .raw(`create table notes (body ${text} not null unique, seen ${integer} not null default 0) ${end}`)
      .execute(db);
  });
});
after(async () => await test.close());
beforeEach(async () => await test.store.write(async ({ db }) => await sql`delete from notes`.execute(db)));

const insert = async ({ db }: Tx, body: string): Promise<void> =>
  void (await sql`insert into notes (body) values (${body})`.execute(db));

const bodies = async (db: Reader): Promise<string[]> => {
  const { rows } = await sql<{ body: string }>`select body from notes order by body`.execute(db);
  return rows.map(({ body }) => body);
};

const seen = async (db: Reader): Promise<number[]> => {
  const { rows } = await sql<{ seen: number }>`select seen from notes`.execute(db);
  return rows.map((row) => row.seen);
};

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_one, index) => `n${String(index).padStart(4, '0')}`);

/** Runs work a moment later, once the calling transaction has begun to end. */
const later = async (work: () => Promise<unknown>): Promise<unknown> => {
  for (let index = 0; index < 20; index += 1) await Promise.resolve();
  return await work();
};

const turnOfLoop = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve));

describe('a transaction', () => {
  it('sees its own writes, which others see only after its commit', async () => {
    const { store } = test;
    await store.write(async (tx) => {
      await insert(tx, 'a');
      assert.deepEqual(await bodies(tx.db), ['a']);
      assert.deepEqual(await bodies(store.db), []);
    });
    assert.deepEqual(await bodies(store.db), ['a']);
  });

  it(
    'is the only place to write on SQLite',
    { skip: process.env['GANTRY_TEST_DATABASE_URL'] !== undefined },
    async () => {
      await assert.rejects(sql`insert into notes (body) values ('a')`.execute(test.store.db), /readonly/);
      await assert.rejects(
        sql`insert into notes (body) values ('a') returning body`.execute(test.store.db),
        /readonly/,
      );
      assert.deepEqual(await bodies(test.store.db), []);
    },
  );

  it('is rolled back if it fails, and throws the cause', async () => {
    const why = new Error('no');
    const failed = test.store.write(async (tx) => {
      await insert(tx, 'a');
      throw why;
    });
    await assert.rejects(failed, why);
    assert.deepEqual(await bodies(test.store.db), []);
  });

  it('throws the error of the statement that failed', async () => {
    const twice = test.store.write(async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'a');
    });
    await assert.rejects(twice, (error: unknown) => test.store.isUniqueViolation(error));
    assert.deepEqual(await bodies(test.store.db), []);
  });

  it('does not affect concurrent transactions if it fails', async () => {
    const names = numbered(200);
    const isBad = (name: string): boolean => name.endsWith('7');
    const results = await Promise.allSettled(
      names.map((name) =>
        test.store.write(async (tx) => {
          await insert(tx, name);
          if (isBad(name)) throw new Error(name);
        }),
      ),
    );
    const failed = results.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as Error).message] : [],
    );
    assert.deepEqual(
      failed,
      names.filter((name) => isBad(name)),
    );
    assert.deepEqual(
      await bodies(test.store.db),
      names.filter((name) => !isBad(name)),
    );
  });

  it('concurrent transactions lose no update', async () => {
    await test.store.write(async (tx) => await insert(tx, 'a'));
    const addOne = async ({ db, dialect }: Tx): Promise<void> => {
      const query = sql<{ seen: number }>`select seen from notes where body = 'a' ${dialect.forUpdate}`;
      const { rows } = await query.execute(db);
      await sql`update notes set seen = ${(rows[0]?.seen ?? 0) + 1} where body = 'a'`.execute(db);
    };
    await Promise.all(Array.from({ length: 64 }, () => test.store.write(addOne)));
    assert.deepEqual(await seen(test.store.db), [64]);
  });

  it('is visible to concurrent readers completely or not at all', async () => {
    let writing = true;
    const write = async (): Promise<void> => {
      for (let round = 0; round < 20; round += 1) {
        await test.store.write(async (tx) => {
          for (const name of ['a', 'b', 'c']) await insert(tx, `${name}${round}`);
        });
      }
      writing = false;
    };
    const rests = new Set<number>();
    const read = async (): Promise<void> => {
      while (writing) {
        rests.add((await bodies(test.store.db)).length % 3);
        await turnOfLoop();
      }
    };
    await Promise.all([write(), read(), read()]);
    assert.deepEqual([...rests], [0]);
  });

  it('refuses statements after it has ended', async () => {
    let stray: Promise<unknown> | undefined;
    const failed = test.store.write(async (tx) => {
      await insert(tx, 'a');
      // As with `Promise.all`, which leaves the others running when one fails.
      stray = later(() => insert(tx, 'stray')).catch(String);
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    assert.match(String(await stray), /has ended|rolled back/);
    assert.deepEqual(await bodies(test.store.db), []);
  });

  it('a transaction may read outside of itself', async () => {
    await test.store.write(async (tx) => {
      await insert(tx, 'a');
      assert.deepEqual(await bodies(test.store.db), []);
    });
  });
});

it('returns rows as plain objects, inside and outside of a transaction', async () => {
  const rows = [
    { body: 'a', seen: 7, none: null },
    { body: 'b', seen: 0, none: null },
  ];
  const all = compiled((db) =>
    sql<object>`select body, seen, null as none from notes order by body`.compile(db),
  );
  await test.store.write(async (tx) => {
    await sql`insert into notes (body, seen) values ('a', 7), ('b', 0)`.execute(tx.db);
    assert.deepEqual(await all(tx.db, {}), rows);
  });
  assert.deepEqual(await all(test.store.db, {}), rows);
});

it('finds nothing in an empty list, and everything outside of it', async () => {
  const { store } = test;
  await store.write(async (tx) => await insert(tx, 'a'));
  const count = async (of: 'in' | 'not in'): Promise<number> => {
    const notes = store.db.selectFrom('notes').select(sql<string>`body`.as('body'));
    return (await notes.where(sql<string>`body`, of, []).execute()).length;
  };
  assert.deepEqual([await count('in'), await count('not in')], [0, 1]);
});

describe('after the commit', () => {
  it('runs the callbacks, and none after a rollback', async () => {
    const ran: string[] = [];
    await test.store.write(async (tx) => {
      tx.afterCommit(() => void ran.push('a'));
      await insert(tx, 'a');
      assert.deepEqual(ran, []);
    });
    const failed = test.store.write(async (tx) => {
      tx.afterCommit(() => void ran.push('b'));
      await insert(tx, 'a');
    });
    await assert.rejects(failed);
    assert.deepEqual(ran, ['a']);
  });

  it('notifies listeners once per transaction', async () => {
    let heard = 0;
    const stop = test.store.listen('notes', () => (heard += 1));
    const write = async (topic: string, body: string): Promise<void> =>
      await test.store.write(async (tx) => {
        tx.announce(topic);
        tx.announce(topic);
        await insert(tx, body);
        assert.equal(heard, 0);
      });
    await write('other', 'a');
    await assert.rejects(write('notes', 'a'));
    assert.equal(heard, 0);
    await write('notes', 'b');
    assert.equal(heard, 1);
    stop();
    await test.store.write(async (tx) => tx.announce('notes'));
    assert.equal(heard, 1);
  });
});

describe('two transactions that wait for each other', () => {
  it('of two transactions that wait for each other, one is retried and both are stored', async () => {
    const pair = ['x', 'y'];
    await test.store.write(async (tx) => {
      for (const body of pair) await insert(tx, body);
    });
    const touch = (order: string[]): Promise<void> =>
      test.store.write(async ({ db }) => {
        for (const body of order) {
          await sql`update notes set seen = seen + 1 where body = ${body}`.execute(db);
          for (let index = 0; index < 20; index += 1) await Promise.resolve();
        }
      });
    await Promise.all(
      Array.from({ length: 4 }, (_one, index) => touch(index % 2 === 0 ? pair : pair.toReversed())),
    );
    assert.deepEqual(await seen(test.store.db), [4, 4]);
  });
});

const [onSqlite, onPostgres] = [
  { skip: process.env['GANTRY_TEST_DATABASE_URL'] !== undefined },
  { skip: process.env['GANTRY_TEST_DATABASE_URL'] === undefined },
];

describe('SQLite', onSqlite, () => {
  const countCommits = async (work: () => Promise<unknown>): Promise<number> => {
    const exec = mock.method(DatabaseSync.prototype, 'exec');
    try {
      await work();
      return exec.mock.calls.filter(({ arguments: [text] }) => text === 'commit').length;
    } finally {
      exec.mock.restore();
    }
  };

  it('stores concurrent transactions with one commit for many', async () => {
    const names = numbered(64);
    const commits = await countCommits(
      async () =>
        await Promise.all(names.map((name) => test.store.write(async (tx) => await insert(tx, name)))),
    );
    assert.ok(commits < 32, `${commits} commits for 64 transactions`);
    assert.deepEqual(await bodies(test.store.db), names);
  });

  it('locks the database and uses the expected pragmas', async () => {
    const values = await test.store.write(async ({ db }) => {
      const names = ['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema', 'cell_size_check'];
      const found: unknown[] = [];
      for (const name of names) {
        const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db);
        found.push(Object.values(rows[0] ?? {})[0]);
      }
      return found;
    });
    assert.deepEqual(values, ['wal', 1, 1, 0, 1]);
  });
});

describe('PostgreSQL', onPostgres, () => {
  it('recovers after the server closed every connection, also during transactions', async () => {
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'gantry %' and query like '%notes%' and pid <> pg_backend_pid()`;
    const { promise: isCut, resolve: tellOfCut } = Promise.withResolvers<void>();
    const inside = new Set<number>();
    const running = Array.from({ length: 4 }, (_one, index) =>
      test.store.write(async (tx) => {
        await insert(tx, `cut${index}`);
        inside.add(index);
        await isCut;
        await insert(tx, `after${index}`);
      }),
    );
    const settled = Promise.allSettled(running);
    while (inside.size < running.length) await turnOfLoop();
    await onServer(cut);
    tellOfCut();
    assert.ok((await settled).every(({ status }) => status === 'rejected'));
    await test.store.write(async (tx) => await insert(tx, 'next'));
    assert.deepEqual(await bodies(test.store.db), ['next']);
  });
});

describe(
  'a query that PostgreSQL keeps',
  { skip: process.env['GANTRY_TEST_DATABASE_URL'] === undefined },
  () => {
    const all = compiled((db, _given: object) =>
      db.selectFrom('settings').selectAll().orderBy('name').compile(),
    );
    const change = async (text: string): Promise<void> => await onServer(text);

    it('returns correct rows after another process altered the table', async () => {
      const { store, options } = test;
      const table = `${options.schema}.settings`;
      await change(`create table ${table} (name text, value text)`);
      await change(`insert into ${table} values ('a', 'b')`);
      // By then each connection has prepared it.
      await Promise.all(Array.from({ length: 40 }, async () => await all(store.db, {})));
      await change(`alter table ${table} add column more text`);
      const found = await Promise.all(Array.from({ length: 40 }, async () => await all(store.db, {})));
      assert.deepEqual(new Set(found.map((rows) => JSON.stringify(rows))).size, 1);
      assert.deepEqual({ ...found[0]?.[0] }, { name: 'a', value: 'b', more: null });
    });

    it('restarts a transaction that meets the altered table', async () => {
      const { store, options } = test;
      const names = compiled((db, _given: object) => db.selectFrom('settings').selectAll().compile());
      const ask = async () => await store.write(async (tx) => await names(tx.db, {}));
      await Promise.all(Array.from({ length: 20 }, ask));
      await change(`alter table ${options.schema}.settings add column again text`);
      const found = await Promise.all(Array.from({ length: 20 }, ask));
      assert.ok(found.every((rows) => rows.length === 1));
    });
  },
);
