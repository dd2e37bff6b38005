/** Places that the processes of one service have in common. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { type Store, openStore } from './open.ts';

const skip = process.env['GANTRY_TEST_DATABASE_URL'] === undefined && 'one process uses a file';

let test: TestStore;
let other: Store;
before(async () => {
  test = await openTestStore();
  if (skip === false) other = await openStore(test.options, test.clock);
});
after(async () => {
  if (skip === false) await other.close();
  await test.close();
});

/** Takes places until there is none. */
const takeAll = async (store: Store, name: string, count: number): Promise<(() => void)[]> => {
  const taken: (() => void)[] = [];
  for (;;) {
    const one = await store.takePlace(name, count);
    if (one === null) return taken;
    taken.push(one);
  }
};

/** Takes a place once there is one: places are given back behind the caller. */
const takeSoon = async (store: Store, name: string, count: number): Promise<() => void> => {
  for (;;) {
    const one = await store.takePlace(name, count);
    if (one !== null) return one;
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
};

it('are as many as there are for all of them together', { skip }, async () => {
  const { store } = test;
  const ours = await Promise.all([1, 2, 3].map(async () => await store.takePlace('a', 5)));
  assert.ok(ours.every((one) => one !== null));
  const theirs = await takeAll(other, 'a', 5);
  assert.equal(theirs.length, 2);
  assert.equal(await store.takePlace('a', 5), null);
  assert.equal((await takeAll(other, 'b', 5)).length, 5, 'another name has its own');
  ours[0]?.();
  await takeSoon(other, 'a', 5);
  assert.equal(await store.takePlace('a', 5), null);
  for (const one of theirs) one();
  for (const _one of theirs) await takeSoon(store, 'a', 5);
  assert.equal(await other.takePlace('a', 5), null);
});

it('end with the process that took them', { skip }, async () => {
  const brief = await openStore(test.options, test.clock);
  assert.equal((await takeAll(brief, 'c', 4)).length, 4);
  assert.equal(await other.takePlace('c', 4), null);
  await brief.close();
  for (let taken = 0; taken < 4; taken += 1) await takeSoon(other, 'c', 4);
  assert.equal(await other.takePlace('c', 4), null);
});
