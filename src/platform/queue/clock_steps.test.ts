/** Background work of a service whose clock is set, or whose machine slept. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { until } from '../../../test/support/until.ts';
import { migrate } from '../db/migrate.ts';
import { type Payload, type WorkHandler, enqueue } from './enqueue.ts';
import { lease, take } from './leases.ts';
import type { WorkerParts } from './run_work.ts';
import { type Worker, startWorker } from './worker.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3_600_000;

let test: TestStore;
let workers: Worker[];
let ran: Payload[];

const moveTo = (now: number): void => test.setTime(now);

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
});
after(async () => await test.close());
beforeEach(async () => {
  [workers, ran] = [[], []];
  moveTo(start);
  await test.store.write(async ({ db }) => await db.deleteFrom('work').execute());
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

const noting = async (payload: Payload): Promise<void> => void ran.push(payload);

const work = (handler: WorkHandler = noting, more: Partial<WorkerParts> = {}): Worker => {
  const worker = startWorker({
    store: test.store,
    clock: test.clock,
    log: pino({ level: 'silent' }),
    handlers: { note: handler },
    ...more,
  });
  workers.push(worker);
  return worker;
};

const add = async (payload: Payload = {}, options: { run_at?: number; turn?: string } = {}): Promise<void> =>
  await test.store.write(async (tx) => await enqueue(tx, 'note', payload, options));

const rows = async () =>
  await test.store.db.selectFrom('work').select(['run_at', 'attempts']).orderBy('id').execute();

describe('work of a service whose clock is set back', () => {
  const enqueueInTurn = async (n: number): Promise<void> => await add({ n }, { turn: 'one by one' });

  for (const step of [hour, 30_000, 10_000])
    it(`runs without waiting for the former time, in the order of its turn, after ${step} ms`, async () => {
      const gate = Promise.withResolvers<void>();
      const worker = work(async (payload) => {
        ran.push(payload);
        if (payload['n'] === 1) await gate.promise;
      });
      await enqueueInTurn(1);
      await until('the first runs', () => ran.length === 1);
      await enqueueInTurn(2);
      moveTo(start + 1_000);
      await enqueueInTurn(3);
      moveTo(start + 1_000 - step);
      await enqueueInTurn(4);
      gate.resolve();
      await worker.drain();
      assert.deepEqual(ran, [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
      assert.deepEqual(await rows(), []);
    });

  it('runs when the clock was set while no process ran', async () => {
    await add({ n: 1 });
    moveTo(start - hour);
    await work().drain();
    assert.deepEqual(ran, [{ n: 1 }]);
  });

  it('is taken over from a dead process after the time of a lease', async () => {
    await add();
    await take(test.store);
    const worker = work();
    await worker.drain();
    moveTo(start - hour);
    await worker.drain();
    assert.deepEqual(ran, []);
    moveTo(start - hour + lease + 1);
    await worker.drain();
    assert.deepEqual(ran, [{}]);
  });

  it('waits for a time of day that it was enqueued for, and is not run again if it failed', async () => {
    await add({ n: 1 }, { run_at: start + hour });
    const worker = work(async () => {
      throw new Error('never');
    });
    await add({ n: 2 });
    await worker.drain();
    await test.store.write(
      async ({ db }) =>
        await db
          .updateTable('work')
          .set({ run_at: Number.MAX_SAFE_INTEGER })
          .where('attempts', '>', 0)
          .execute(),
    );
    moveTo(start - hour);
    await worker.drain();
    assert.deepEqual(
      (await rows()).map(({ run_at, attempts }) => [run_at, attempts]),
      [
        [start + hour, 0],
        [Number.MAX_SAFE_INTEGER, 1],
      ],
    );
  });
});

describe('work of a service whose clock is set ahead', () => {
  it('is not taken again while it runs', async () => {
    const lanes = [{ title: 'default', names: null, maxPieces: 3 }];
    const gate = Promise.withResolvers<void>();
    const hold = async (payload: Payload): Promise<void> => {
      ran.push(payload);
      if (payload['n'] === 1) await gate.promise;
    };
    work(hold, { lanes, idlePause: 10 });
    await add({ n: 1 });
    await until('the first runs', () => ran.length === 1);
    moveTo(start + hour);
    await add({ n: 2 });
    await until('the second has run', async () => (await rows()).length === 1);
    // Another process finds it leased.
    assert.equal(await take(test.store), null);
    gate.resolve();
    await until('the first has run', async () => (await rows()).length === 0);
    assert.deepEqual(ran, [{ n: 1 }, { n: 2 }]);
  });
});
