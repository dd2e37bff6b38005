/** Work that starts with the commit of its cause, where a single process has the database; elsewhere it is taken. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { pino } from 'pino';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { until } from '../../../test/support/until.ts';
import { migrate } from '../db/migrate.ts';
import { type Tx } from '../db/open.ts';
import { enqueueAll } from './enqueue.ts';
import { type Worker, startWorker } from './worker.ts';

const start = Date.UTC(2026, 0, 1);
let test: TestStore;
let worker: Worker;
let begun: string[];
let ends: (() => void)[];
let fails: boolean;

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
});
after(async () => await test.close());

const send = async ({ target }: { [name: string]: unknown }): Promise<void> => {
  begun.push(String(target));
  if (fails) throw new Error('failed');
  await new Promise<void>((end) => void ends.push(end));
};

beforeEach(async () => {
  [begun, ends, fails] = [[], [], false];
  test.setTime(start);
  await test.store.write(async ({ db }) => await db.deleteFrom('work').execute());
  worker = startWorker({
    store: test.store,
    clock: test.clock,
    log: pino({ level: 'silent' }),
    lanes: [
      { title: 'two', names: ['send'], maxPieces: 2 },
      { title: 'default', names: null, maxPieces: 1 },
    ],
    handlers: { send },
    idlePause: 5,
  });
});
afterEach(async () => {
  const stopped = worker.stop();
  for (const end of ends) end();
  await stopped;
});

const isSqlite = (): boolean => test.store.dialect.engine === 'sqlite';

const enqueueSends = async (tx: Tx, ...targets: string[]): Promise<void> =>
  await enqueueAll(
    tx,
    'send',
    targets.map((target) => ({
      payload: { target },
      options: { unique_key: target, turn: target, startsAtOnce: true },
    })),
  );

const rows = async (db = test.store.db) =>
  await db
    .selectFrom('work')
    .select(['turn', 'unique_key', 'locked_until', 'attempts'])
    .orderBy('id')
    .execute();

it('is leased in the transaction of its cause, as far as there is room', async () => {
  await test.store.write(async (tx) => {
    await enqueueSends(tx, 'a', 'b', 'c');
    const leased = (await rows(tx.db)).map(({ locked_until }) => locked_until !== null);
    assert.deepEqual(leased, [isSqlite(), isSqlite(), false]);
    assert.deepEqual(begun, []);
  });
  await until('2 pieces of work began', () => begun.length === 2);
  assert.deepEqual(begun.toSorted(), ['a', 'b']);
  ends[0]?.();
  await until('3 pieces of work began', () => begun.length === 3);
  assert.deepEqual(begun.at(-1), 'c');
});

it('waits for its turn, and runs again for a later cause', async () => {
  await test.store.write(async (tx) => await enqueueSends(tx, 'a'));
  await until('1 pieces of work began', () => begun.length === 1);
  await test.store.write(async (tx) => await enqueueSends(tx, 'a', 'b'));
  await test.store.write(async (tx) => await enqueueSends(tx, 'a'));
  await until('2 pieces of work began', () => begun.length === 2);
  assert.deepEqual(begun, ['a', 'b']);
  ends[0]?.();
  await until('3 pieces of work began', () => begun.length === 3);
  assert.deepEqual(begun, ['a', 'b', 'a']);
  for (const end of ends) end();
  await worker.drain();
  assert.deepEqual([begun.length, await rows()], [3, []]);
});

it('never starts, and takes no room, if the transaction is rolled back', async () => {
  const failing = test.store.write(async (tx) => {
    await enqueueSends(tx, 'a', 'b');
    throw new Error('rolled back');
  });
  await assert.rejects(failing, /rolled back/);
  await test.store.write(async (tx) => await enqueueSends(tx, 'c', 'd'));
  await until('2 pieces of work began', () => begun.length === 2);
  assert.deepEqual(begun.toSorted(), ['c', 'd']);
});

it('is tried again with its key after a failure', async () => {
  fails = true;
  await test.store.write(async (tx) => await enqueueSends(tx, 'a'));
  await until('1 pieces of work began', () => begun.length === 1);
  await worker.drain();
  const [row] = await rows();
  assert.deepEqual(row, { turn: 'a', unique_key: 'a', locked_until: null, attempts: 1 });
});

it('waits for another worker once this one stops', async () => {
  await worker.stop();
  await test.store.write(async (tx) => await enqueueSends(tx, 'a'));
  assert.deepEqual(begun, []);
  assert.deepEqual((await rows())[0]?.attempts, 0);
});
