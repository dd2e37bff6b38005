/** Lookups of the same tick are batched into one statement. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { makeBatchLoader } from './batch_loader.ts';
import type { Reader } from './open.ts';

type Row = { key: string; value: number };

let opened: TestStore;
let asked: string[][] = [];
before(async () => void (opened = await openTestStore({ isEmpty: true })));
after(async () => await opened.close());
beforeEach(() => void (asked = []));

const rows: Row[] = [
  { key: 'a', value: 1 },
  { key: 'b', value: 2 },
];

const find = makeBatchLoader(
  async (db: Reader, keys: string[]) => {
    asked.push(keys);
    if (keys.includes('broken')) await sql`select no_such_column from nothing`.execute(db);
    return rows.filter(({ key }) => keys.includes(key));
  },
  ({ key }) => key,
);

test('lookups of one tick share one statement and get their own rows', async () => {
  const { db } = opened.store;
  const found = await Promise.all(['b', 'a', 'c', 'b'].map(async (key) => (await find(db, key))?.value));
  assert.deepEqual(found, [2, 1, undefined, 2]);
  assert.deepEqual(asked, [['b', 'a', 'c']]);
});

test('a later lookup runs a new statement', async () => {
  const { db } = opened.store;
  assert.equal((await find(db, 'a'))?.value, 1);
  assert.equal((await find(db, 'a'))?.value, 1);
  assert.deepEqual(asked, [['a'], ['a']]);
});

test('a failed batch rejects its lookups and no later ones', async () => {
  const { db } = opened.store;
  const outcomes = await Promise.allSettled([find(db, 'a'), find(db, 'broken')]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal((await find(db, 'a'))?.value, 1);
});

test('lookups in a transaction are not batched', async () => {
  const { store } = opened;
  const outside = find(store.db, 'a');
  const inside = await store.write(async ({ db }) => (await find(db, 'b'))?.value);
  assert.deepEqual([(await outside)?.value, inside], [1, 2]);
  assert.deepEqual(asked.map((keys) => keys.join()).toSorted(), ['a', 'b']);
});
