/** The age of background work counts from the time it became due. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { migrate } from '../db/migrate.ts';
import { loadWorkFigures } from './inspect_work.ts';
import { formatWorkMetrics } from './metrics.ts';
import { enqueue } from './enqueue.ts';
import { allKinds, giveUp, postpone, take } from './leases.ts';

const start = Date.UTC(2026, 0, 1);
const month = 30 * 24 * 3_600_000;

let opened: TestStore;
let now: number;

before(async () => {
  opened = await openTestStore();
  await migrate(opened.store);
});
after(async () => await opened.close());

const moveTo = (time: number): void => {
  now = time;
  opened.setTime(time);
};

beforeEach(async () => {
  moveTo(start);
  await opened.store.write(async ({ db }) => await db.deleteFrom('work').execute());
});

const add = async (run_at: number): Promise<void> =>
  await opened.store.write(async (tx) => await enqueue(tx, 'note', {}, { run_at }));

const oldest = async (): Promise<number | null | undefined> =>
  (await loadWorkFigures(opened.store.db, now))[0]?.oldest;

const age = async (): Promise<string | undefined> => {
  const text = await formatWorkMetrics({ db: opened.store.db, now, kinds: ['note'], lanes: [] });
  return /^gantry_work_oldest_age_seconds\{[^}]*\} (\S+)$/m.exec(text)?.[1];
};

const takeOne = async () => {
  const taken = await take(opened.store, allKinds);
  assert.ok(taken);
  return taken;
};

test('future work has no age, however long ago it was enqueued', async () => {
  await add(start + 2 * month);
  moveTo(start + month);
  assert.deepEqual([await oldest(), await age()], [null, '0']);
  moveTo(start + 2 * month + 5_000);
  assert.deepEqual([await oldest(), await age()], [start + 2 * month, '5']);
  await takeOne();
  assert.equal(await age(), '5', 'while it runs');
  await add(start + month);
  assert.equal(await age(), String(month / 1000 + 5), 'the oldest counts');
});

for (const isOutage of [true, false]) {
  test(`work that ${isOutage ? 'waits for the end of outages' : 'fails'} stays due since its first attempt`, async () => {
    await add(start + month);
    moveTo(start + month);
    for (let tries = 0; tries < 15; tries += 1) {
      await postpone(opened.store, await takeOne(), new Error('no'), isOutage);
      assert.equal(await oldest(), start + month, 'while it waits');
      const row = await opened.store.db.selectFrom('work').select('run_at').executeTakeFirstOrThrow();
      moveTo(row.run_at);
      assert.equal(await oldest(), start + month, 'while it is due again');
    }
  });
}

test('failed work has no age', async () => {
  await add(start);
  moveTo(start + month);
  await giveUp(opened.store, await takeOne(), new Error('no'));
  assert.deepEqual([await oldest(), await age()], [null, '0']);
});
