/** Work that a live process holds and does not run, after an outage of the database: it need not wait for its lease. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { pino } from 'pino';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { until } from '../../../test/support/until.ts';
import { migrate } from '../db/migrate.ts';
import type { Store, Write } from '../db/open.ts';
import { enqueue } from './enqueue.ts';
import { type Worker, startWorker } from './worker.ts';

/** What the driver of a database throws whose server has gone. */
const gone = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

let test: TestStore;
let store: Store;
let worker: Worker | undefined;
/** How writes fail now: before anything is written, or after the commit, whose answer is lost. */
let outage: 'before' | 'after' | null;
let ran: number;
/** Holds long work until it is resolved. */
let gate: PromiseWithResolvers<void>;

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
  // The time stands, so no lease expires.
  test.setTime(Date.UTC(2026, 0, 1));
  const failing =
    (write: Write): Write =>
    async (run, ...others) => {
      if (outage === 'before') throw gone;
      const result = await write(run, ...others);
      if ((outage as string | null) === 'after') throw gone;
      return result;
    };
  store = {
    ...test.store,
    write: failing(test.store.write),
    writeRelaxed: failing(test.store.writeRelaxed),
    isUnreachable: (error) => error === gone,
  };
});
after(async () => await test.close());
beforeEach(async () => {
  [outage, ran] = [null, 0];
  gate = Promise.withResolvers();
  await test.store.write(async ({ db }) => await db.deleteFrom('work').execute());
});
afterEach(async () => {
  outage = null;
  gate.resolve();
  await worker?.stop();
});

const add = async (name: string): Promise<void> =>
  await test.store.write(async (tx) => await enqueue(tx, name, {}));

const work = (handlers: Record<string, () => Promise<void>>): void => {
  const lanes = [{ title: 'default', names: null, maxPieces: 4 }];
  const parts = { store, clock: test.clock, log: pino({ level: 'silent' }), handlers, lanes, idlePause: 10 };
  worker = startWorker({ ...parts, isOutage: (error) => error === gone });
};

const rows = async () =>
  await test.store.db.selectFrom('work').select(['name', 'attempts', 'excused_attempts']).execute();

it('runs again when the end of an attempt could not be recorded', async () => {
  await add('note');
  work({
    note: async () => {
      ran += 1;
      if (ran > 1) return;
      outage = 'before';
      throw gone;
    },
  });
  await until('the attempt fails', () => ran === 1);
  await wait(30);
  assert.deepEqual(await rows(), [{ name: 'note', attempts: 1, excused_attempts: 0 }]);
  outage = null;
  await until('the work is done', async () => (await rows()).length === 0);
  assert.equal(ran, 2);
});

it('runs when the answer to the taking of it was lost', async () => {
  await add('long');
  work({ note: async () => void (ran += 1), long: async () => await gate.promise });
  await until('the long work runs', async () => (await rows())[0]?.attempts === 1);
  outage = 'after';
  await add('note');
  await until('it is taken', async () =>
    (await rows()).some(({ name, attempts }) => name === 'note' && attempts > 0),
  );
  assert.equal(ran, 0);
  outage = null;
  await until('the work is done', async () => ran === 1 && (await rows()).length === 1);
  // What still runs stays with its process.
  assert.deepEqual(await rows(), [{ name: 'long', attempts: 1, excused_attempts: 0 }]);
  gate.resolve();
  await until('all is done', async () => (await rows()).length === 0);
});
