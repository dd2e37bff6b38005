/** What is kept is never older than the tables that it was read from. PostgreSQL keeps nothing. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { runMetered } from './statement_meter.ts';
import { keepReads, keepUntilChange } from './keep_until_change.ts';
import type { Reader } from './open.ts';

let opened: TestStore;
let reads = 0;

const keep = keepUntilChange<string>(['kept', 'kept_by_trigger', 'kept_children'], 2);

const read = async (db: Reader = opened.store.db, key = 'a'): Promise<string> =>
  await keep(db, key, async () => {
    reads += 1;
    const { rows } = await sql<{ n: number }>`select (select count(*) from kept) * 100
      + (select count(*) from kept_by_trigger) * 10 + (select count(*) from kept_children) as n`.execute(db);
    return String(rows[0]?.n);
  });

const write = async (text: string): Promise<void> =>
  await opened.store.write(async ({ db }) => void (await sql.raw(text).execute(db)));

const isSqlite = process.env['GANTRY_TEST_DATABASE_URL'] === undefined;

before(async () => {
  opened = await openTestStore({ isEmpty: true });
  await write('create table kept (id integer primary key)');
  await write('create table kept_by_trigger (id integer)');
  await write('create table kept_children (id integer references kept (id) on delete cascade)');
  await write('create table other (id integer primary key)');
  await write('create table unrelated (id integer primary key)');
  if (isSqlite)
    await write(
      'create trigger noted after insert on other when new.id = 7 begin insert into kept_by_trigger values (1); end',
    );
});
after(async () => await opened.close());
beforeEach(() => void (reads = 0));

test('reads again after a commit that wrote one of the tables, and shows it', async () => {
  const before = await read();
  await write('insert into kept values (1)');
  assert.equal(Number(await read()), Number(before) + 100);
});

test('keeps a value while only other tables change', { skip: !isSqlite }, async () => {
  await read();
  reads = 0;
  await write('insert into unrelated values (1)');
  await read();
  assert.equal(reads, 0);
});

test('counts what triggers and foreign keys write', { skip: !isSqlite }, async () => {
  const before = Number(await read());
  await write('insert into other values (7)');
  assert.equal(Number(await read()), before + 10);
  await write('insert into kept_children values (1)');
  assert.equal(Number(await read()), before + 11);
  await write('delete from kept where id = 1');
  assert.equal(Number(await read()), before + 10 - 100);
});

test('reads again after a commit of another process', { skip: !isSqlite }, async () => {
  const before = Number(await read());
  const other = new DatabaseSync(opened.store.file ?? '');
  other.exec('insert into kept values (50)');
  other.close();
  assert.equal(Number(await read()), before + 100);
});

test('each request looks for commits of other processes', { skip: !isSqlite }, async () => {
  const inRequest = async (work: () => Promise<void>): Promise<void> =>
    await runMetered({ statements: 0, milliseconds: 0 }, work);
  const before = Number(await read());
  const other = new DatabaseSync(opened.store.file ?? '');
  await inRequest(async () => {
    assert.equal(Number(await read()), before);
    other.exec('insert into kept values (51)');
    await read();
  });
  other.close();
  await inRequest(async () => assert.equal(Number(await read()), before + 100));
});

test('keeps nothing that a transaction may yet undo', async () => {
  const before = await read();
  const undone = opened.store.write(async ({ db }) => {
    await sql`insert into kept values (60)`.execute(db);
    assert.equal(Number(await read(db)), Number(before) + 100);
    assert.equal(await read(), before);
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.equal(await read(), before);
});

test('a transaction uses what is kept until it writes', { skip: !isSqlite }, async () => {
  const before = await read();
  reads = 0;
  await opened.store.write(async ({ db }) => {
    assert.equal(await read(db), before);
    await sql`insert into unrelated values (61)`.execute(db);
    assert.equal(await read(db), before);
    assert.equal(reads, 0);
    await sql`insert into kept values (61)`.execute(db);
    assert.equal(Number(await read(db)), Number(before) + 100);
    assert.equal(Number(await read(db)), Number(before) + 100);
    assert.equal(reads, 2);
  });
  assert.equal(Number(await read()), Number(before) + 100);
});

test(
  'keeps what a transaction read, unless one of its group had written before',
  { skip: !isSqlite },
  async () => {
    const readIn = async () => await opened.store.write(async ({ db }) => await read(db));
    await write('insert into kept values (62)');
    const before = await readIn();
    reads = 0;
    assert.equal(await read(), before);
    assert.equal(reads, 0);
    const [, second] = await Promise.all([write('insert into kept values (63)'), readIn()]);
    assert.equal(Number(second), Number(before) + 100);
    const failed = opened.store.write(async ({ db }) => {
      await read(db);
      await sql`insert into kept values (64)`.execute(db);
      throw new Error('undone');
    });
    await Promise.allSettled([failed, readIn()]);
    assert.equal(await read(), second);
  },
);

const keepPages = keepReads<string>(1_000, () => 1);

/** Reads one table itself, and what `read` keeps. */
const readPage = async (
  db: Reader = opened.store.db,
  text = 'select count(*) as n from pages',
): Promise<string> =>
  await keepPages(db, text, async () => {
    reads += 1;
    const { rows } = await sql<{ n: number }>`${sql.raw(text)}`.execute(db);
    return `${rows[0]?.n} ${await read(db)}`;
  });

test('keeps what statements read until one of their tables changes', { skip: !isSqlite }, async () => {
  await write('create table pages (id integer primary key)');
  const before = await readPage();
  reads = 0;
  await write('insert into unrelated values (2)');
  assert.equal(await readPage(), before);
  assert.equal(reads, 0);
  await write('insert into pages values (1)');
  assert.equal(await readPage(), before.replace(/^0/, '1'));
  await write('insert into kept values (70)');
  assert.notEqual(await readPage(), before.replace(/^0/, '1'), 'it read what another read had kept');
  const other = new DatabaseSync(opened.store.file ?? '');
  other.exec('insert into pages values (2)');
  other.close();
  assert.match(await readPage(), /^2 /);
});

test('keeps no value that another commit has made old meanwhile', { skip: !isSqlite }, async () => {
  const slow = async (): Promise<string> =>
    await keepPages(opened.store.db, 'slow', async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from pages`.execute(opened.store.db);
      await write(`insert into pages values (${100 + reads})`);
      reads += 1;
      return String(rows[0]?.n);
    });
  assert.equal(Number(await slow()) + 1, Number(await slow()));
});

test('counts the length of keys, so that long ones do not fill the memory', { skip: !isSqlite }, async () => {
  const readLong = async (letter: string): Promise<string> =>
    await keepPages(opened.store.db, letter.repeat(600), async () => {
      reads += 1;
      return letter;
    });
  reads = 0;
  for (const letter of ['a', 'b', 'b']) await readLong(letter);
  assert.equal(reads, 2);
  await readLong('a');
  assert.equal(reads, 3);
});

test(
  'keeps nothing that depends on more than tables, nor in a transaction',
  { skip: !isSqlite },
  async () => {
    const state = `select data_version as n from pragma_data_version`;
    await readPage(opened.store.db, state);
    reads = 0;
    await readPage(opened.store.db, state);
    assert.equal(reads, 1);
    await opened.store.write(async ({ db }) => {
      reads = 0;
      const before = await readPage(db);
      await sql`insert into pages values (50)`.execute(db);
      assert.notEqual(await readPage(db), before);
    });
  },
);

test('the cache holds at most its number of values', { skip: !isSqlite }, async () => {
  for (const key of ['a', 'b', 'c']) await read(opened.store.db, key);
  reads = 0;
  await read(opened.store.db, 'c');
  assert.equal(reads, 0);
  await read(opened.store.db, 'a');
  assert.equal(reads, 1);
});
