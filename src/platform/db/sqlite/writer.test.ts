/** Group commit of the writer alone: which transactions share a commit, and which of them fail together. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Failure } from '../../errors.ts';
import { type Timeouts, SqliteWriter, type Turn } from './writer.ts';

type Sql = (text: string) => unknown[];

let folder: string;
let database: DatabaseSync;
let reader: DatabaseSync;
let writer: SqliteWriter;
let fatal: unknown[];
/** Statements sent to SQLite, in order; `failing` throws in place of matching ones. */
let told: string[];
let failing: { text: string; error: Error } | null;

const file = (): string => join(folder, 'test.sqlite');

const sync = (): void => {
  told.push('sync');
  if (failing?.text === 'sync') throw failing.error;
};

const makeWriter = (timeouts?: Timeouts): SqliteWriter =>
  new SqliteWriter(database, { sync, onFatal: (error) => void fatal.push(error) }, timeouts);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-writer-'));
  database = new DatabaseSync(file());
  database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 60000');
  database.exec('create table notes (id integer primary key, body text not null unique) strict');
  reader = new DatabaseSync(file(), { readOnly: true });
  [fatal, told, failing] = [[], [], null];
  const exec = database.exec.bind(database);
  database.exec = (text) => {
    told.push(text);
    if (failing?.text === text) throw failing.error;
    exec(text);
  };
  writer = makeWriter();
});

afterEach(() => {
  for (const one of [database, reader]) if (one.isOpen) one.close();
  rmSync(folder, { recursive: true, force: true });
});

const commits = (): number => told.filter((text) => text === 'commit').length;

const stored = (): string[] => {
  const rows = reader.prepare('select body from notes order by body').all() as { body: string }[];
  return rows.map(({ body }) => body);
};

/** Runs a transaction as the store does: commit, or roll back and throw. */
const write = async (work: (sql: Sql) => Promise<unknown> | void, by = writer): Promise<void> => {
  const turn = await by.begin();
  try {
    await work((text) => by.run(turn, () => database.prepare(text).all()));
    await by.commit(turn);
  } catch (error) {
    await by.rollback(turn);
    throw error;
  }
};

const insert = (body: string) => (sql: Sql) => void sql(`insert into notes (body) values ('${body}')`);

const errcode = (code: number, message: string): Error =>
  Object.assign(new Error(message), { errcode: code });
const ioErrorOfFsync = errcode(1034, 'disk I/O error');

const turnOfLoop = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve));

describe('a group of transactions', () => {
  it('transactions of a group share one commit', async () => {
    await Promise.all(Array.from({ length: 20 }, (_one, index) => write(insert(`n${index}`))));
    assert.equal(stored().length, 20);
    assert.ok(commits() < 10, `${commits()} commits for 20 transactions`);
  });

  it('no transaction of a group resolves before the commit', async () => {
    const turn = await writer.begin();
    writer.run(turn, () => database.exec("insert into notes (body) values ('a')"));
    let answered = false;
    const done = writer.commit(turn).then(() => (answered = true));
    for (let index = 0; index < 20; index += 1) await Promise.resolve();
    assert.equal(answered, false);
    assert.deepEqual([commits(), stored()], [0, []]);
    await done;
    assert.deepEqual([commits(), stored()], [1, ['a']]);
  });

  it('drops a failed transaction and keeps the others', async () => {
    const failed = write((sql) => {
      insert('lost')(sql);
      throw new Error('no');
    });
    const results = await Promise.allSettled([write(insert('a')), failed, write(insert('b'))]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(stored(), ['a', 'b']);
  });

  it('drops a failed first transaction and keeps the others', async () => {
    const failed = write((sql) => {
      insert('lost')(sql);
      throw new Error('no');
    });
    const results = await Promise.allSettled([failed, write(insert('a')), write(insert('b'))]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(stored(), ['a', 'b']);
  });

  it('is idle, for reads of committed data, unless a transaction is open', async () => {
    assert.equal(writer.isIdle, true);
    const turn = await writer.begin();
    assert.equal(writer.isIdle, false);
    const done = writer.commit(turn);
    assert.equal(writer.isIdle, false);
    await done;
    assert.equal(writer.isIdle, true);
    await writer.rollback(await writer.begin());
    assert.equal(writer.isIdle, true);
  });

  it('keeps earlier statements of a transaction if one fails', async () => {
    await write((sql) => {
      insert('a')(sql);
      assert.throws(() => insert('a')(sql), /UNIQUE/);
      insert('b')(sql);
    });
    assert.deepEqual(stored(), ['a', 'b']);
  });

  it('is committed at 64 transactions, while others wait', async () => {
    const all = Array.from({ length: 200 }, (_one, index) => write(insert(`n${index}`)));
    await Promise.all(all);
    assert.equal(stored().length, 200);
    assert.ok(commits() >= 4, `${commits()} commits for 200 transactions`);
    const begun = told.filter((text) => text === 'begin immediate').length;
    assert.equal(begun, commits());
  });

  it('yields to the event loop between two groups', async () => {
    const all = Array.from({ length: 200 }, (_one, index) => write(insert(`n${index}`)));
    await turnOfLoop();
    assert.equal(commits(), 1);
    await Promise.all(all);
  });

  it('runs its transactions in order of arrival, one at a time', async () => {
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(`${name} begins`);
      for (let index = 0; index < 5; index += 1) await Promise.resolve();
      order.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => write(work(name))));
    assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
});

describe('a sync of the log', () => {
  const end = async (isDurable: boolean): Promise<void> => {
    const turn = await writer.begin();
    turn.isDurable = isDurable;
    await writer.commit(turn);
  };
  const syncs = (): number => told.filter((text) => text === 'sync').length;

  it('follows each commit, before its transactions resolve', async () => {
    const done = write(insert('a')).then(() => told.push('answered'));
    await done;
    assert.deepEqual(told.slice(-3), ['commit', 'sync', 'answered']);
  });

  it('is left out where no transaction of the group needs it', async () => {
    await Promise.all([end(false), end(false)]);
    assert.deepEqual([commits(), syncs()], [1, 0]);
    await Promise.all([end(false), end(true)]);
    assert.deepEqual([commits(), syncs()], [2, 1]);
  });

  it('that fails rejects its whole group and is fatal', async () => {
    failing = { text: 'sync', error: new Error('EIO') };
    const results = await Promise.allSettled([write(insert('a')), end(false)]);
    assert.deepEqual(
      results.map((one) => (one as PromiseRejectedResult).reason),
      [failing.error, failing.error],
    );
    assert.deepEqual(fatal, [failing.error]);
    await assert.rejects(write(insert('b')), failing.error);
  });
});

describe('a failed commit', () => {
  it('rejects its whole group and is fatal', async () => {
    failing = { text: 'commit', error: ioErrorOfFsync };
    const results = await Promise.allSettled([write(insert('a')), write(insert('b'))]);
    assert.deepEqual(
      results.map((one) => (one as PromiseRejectedResult).reason),
      [ioErrorOfFsync, ioErrorOfFsync],
    );
    assert.deepEqual(fatal, [ioErrorOfFsync]);
    assert.deepEqual(stored(), []);
  });

  it('is never retried, and nothing is acknowledged after it', async () => {
    failing = { text: 'commit', error: ioErrorOfFsync };
    const first = write(insert('a'));
    await assert.rejects(first, ioErrorOfFsync);
    failing = null;
    await assert.rejects(write(insert('b')), ioErrorOfFsync);
    assert.equal(commits(), 1);
    assert.equal(fatal.length, 1);
  });

  it('a failed commit also rejects the waiting transactions', async () => {
    const earlier = writer.commit(await writer.begin());
    const turn = await writer.begin();
    const waiting = write(insert('b'));
    void earlier.catch(() => undefined);
    failing = { text: 'release one', error: ioErrorOfFsync };
    await assert.rejects(writer.commit(turn), ioErrorOfFsync);
    await assert.rejects(waiting, ioErrorOfFsync);
    assert.deepEqual(fatal, [ioErrorOfFsync]);
  });

  it('also rejects a rolled-back transaction, which may have read unstored data of its group', async () => {
    failing = { text: 'commit', error: ioErrorOfFsync };
    const first = write(insert('a'));
    const reading = write(() => {
      throw new Error('a is taken');
    });
    const results = await Promise.allSettled([first, reading]);
    assert.deepEqual(
      results.map((one) => (one as PromiseRejectedResult).reason),
      [ioErrorOfFsync, ioErrorOfFsync],
    );
  });

  it('due to a full disk rejects its group, and the next may try', async () => {
    failing = { text: 'commit', error: errcode(13, 'database or disk is full') };
    const results = await Promise.allSettled([write(insert('a')), write(insert('b'))]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    failing = null;
    await write(insert('c'));
    assert.deepEqual([fatal, stored()], [[], ['c']]);
  });
});

describe('a store that is full', () => {
  const fill = (): void => {
    const { page_count } = database.prepare('pragma page_count').get() as { page_count: number };
    database.exec(`pragma max_page_count = ${page_count}`);
  };
  /** One row: SQLite keeps no statement journal, so a failure ends the whole transaction. */
  const big = (sql: Sql): unknown => sql('insert into notes (body) values (hex(zeroblob(200000)))');
  /** Possibly many rows: SQLite rolls back only the statement. */
  const bigOfMany = (sql: Sql): unknown => sql('insert into notes (body) select hex(zeroblob(200000))');

  it('rejects the whole group, each transaction with that reason', async () => {
    fill();
    const results = await Promise.allSettled([
      write(insert('a')),
      write((sql) => void big(sql)),
      write(insert('b')),
    ]);
    const reasons = results.map((one) =>
      one.status === 'rejected' ? (one.reason as { errcode: number }).errcode : 0,
    );
    assert.deepEqual(reasons, [13, 13, 0]);
    assert.deepEqual([fatal, stored()], [[], ['b']]);
  });

  it('does not affect the group if SQLite rolls back only the statement', async () => {
    fill();
    const results = await Promise.allSettled([
      write(insert('a')),
      write((sql) => void bigOfMany(sql)),
      write(insert('b')),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual([fatal, stored()], [[], ['a', 'b']]);
  });

  it('refuses later statements of the transaction', async () => {
    fill();
    const stubborn = write((sql) => {
      assert.throws(() => big(sql), { errcode: 13 });
      insert('half')(sql);
    });
    await assert.rejects(stubborn, { errcode: 13 });
    assert.deepEqual(stored(), []);
  });

  it('a full store accepts writes again once there is space', async () => {
    fill();
    await assert.rejects(
      write((sql) => void big(sql)),
      { errcode: 13 },
    );
    database.exec('pragma max_page_count = 100000');
    await write((sql) => void big(sql));
    assert.equal(stored().length, 1);
  });
});

describe('a transaction that has ended', () => {
  it('runs no more statements while another transaction is active', async () => {
    const first = await writer.begin();
    await writer.rollback(first);
    const second = await writer.begin();
    assert.throws(
      () => writer.run(first, () => database.exec("insert into notes (body) values ('stray')")),
      /has ended/,
    );
    await writer.commit(second);
    assert.deepEqual(stored(), []);
  });

  it('cannot undo the one that came after it', async () => {
    const earlier = writer.commit(await writer.begin());
    failing = { text: 'release one', error: new Error('odd') };
    const first = await writer.begin();
    await assert.rejects(writer.commit(first), /odd/);
    await assert.rejects(earlier, /odd/);
    failing = null;
    const second = await writer.begin();
    writer.run(second, () => database.exec("insert into notes (body) values ('kept')"));
    await writer.rollback(first); // as the query builder does after a failed commit
    await writer.commit(second);
    assert.deepEqual(stored(), ['kept']);
  });

  it('a transaction that has ended cannot be committed again', async () => {
    const turn = await writer.begin();
    await writer.commit(turn);
    await assert.rejects(writer.commit(turn), /has ended/);
  });
});

describe('a transaction that waits for something else', () => {
  it('is rolled back after its timeout, and the others continue', async () => {
    writer = makeWriter({ busy: 1_000, transaction: 20 });
    const stuck: { turn?: Turn } = {};
    const never = async (): Promise<void> => {
      stuck.turn = await writer.begin();
      writer.run(stuck.turn, () => database.exec("insert into notes (body) values ('stuck')"));
    };
    await never();
    await write(insert('b'));
    assert.deepEqual(stored(), ['b']);
    await assert.rejects(writer.commit(stuck.turn!), /waited for something other than the database/);
  });

  it('is rolled back, too, if another one began shortly before', async () => {
    writer = makeWriter({ busy: 1_000, transaction: 20 });
    await write(insert('a'));
    await wait(10);
    const stuck = await writer.begin();
    await write(insert('b'));
    assert.deepEqual(stored(), ['a', 'b']);
    await assert.rejects(writer.commit(stuck), /waited for something other than the database/);
  });
});

describe('a database that another process writes to', () => {
  const lockedBy = (): DatabaseSync => {
    const other = new DatabaseSync(file());
    other.exec('begin immediate');
    return other;
  };

  it('is waited for without blocking this process', async () => {
    const other = lockedBy();
    const waiting = write(insert('a'));
    await wait(20); // a blocked event loop would not resume before SQLite's timeout
    other.exec('commit');
    other.close();
    await waiting;
    assert.deepEqual(stored(), ['a']);
  });

  it('leads to a timeout that rejects all waiting transactions at once', async () => {
    writer = makeWriter({ busy: 20, transaction: 1_000 });
    const other = lockedBy();
    const results = await Promise.allSettled([write(insert('a')), write(insert('b')), write(insert('c'))]);
    for (const one of results) {
      assert.equal(((one as PromiseRejectedResult).reason as Failure).status, 503);
    }
    other.exec('rollback');
    other.close();
    await write(insert('d'));
    assert.deepEqual([stored(), fatal], [['d'], []]);
  });
});

describe('a transaction that cannot begin', () => {
  it('a transaction that cannot begin is rejected, and the next one is tried', async () => {
    failing = { text: 'begin immediate', error: new Error('odd') };
    const results = await Promise.allSettled([write(insert('a')), write(insert('b'))]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    failing = { text: 'savepoint one', error: new Error('odd') };
    const first = write(insert('b'));
    await Promise.all([assert.rejects(first, /odd/), assert.rejects(write(insert('c')), /odd/)]);
    failing = null;
    await write(insert('d'));
    assert.deepEqual([stored(), fatal], [['d'], []]);
  });
});

describe('damage found by a statement', () => {
  it('is fatal, and nothing of the group is acknowledged', async () => {
    const damage = errcode(11, 'database disk image is malformed');
    const broken = write(() => {
      throw new Error('not reached');
    });
    await assert.rejects(broken);
    const turn = await writer.begin();
    assert.throws(
      () =>
        writer.run(turn, () => {
          throw damage;
        }),
      damage,
    );
    await assert.rejects(writer.commit(turn), damage);
    assert.deepEqual(fatal, [damage]);
  });
});

describe('close', () => {
  it('waits for running and waiting transactions', async () => {
    const all = Array.from({ length: 100 }, (_one, index) => write(insert(`n${index}`)));
    await writer.close();
    assert.equal(stored().length, 100);
    await Promise.all(all);
  });
});
