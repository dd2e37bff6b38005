/** Many questions of one moment, in one statement. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { gathered } from './gathered.ts';
import type { Reader } from './open.ts';

type Row = { key: string; value: number };

let opened: TestStore;
let asked: string[][] = [];
before(async () => void (opened = await openTestStore()));
after(async () => await opened.close());
beforeEach(() => void (asked = []));

const rows: Row[] = [
  { key: 'a', value: 1 },
  { key: 'b', value: 2 },
];

const find = gathered(
  async (db: Reader, keys: string[]) => {
    asked.push(keys);
    if (keys.includes('broken')) await sql`select no_such_column from nothing`.execute(db);
    return rows.filter(({ key }) => keys.includes(key));
  },
  ({ key }) => key,
);

test('those who ask in one moment are answered by one statement, each with its own row', async () => {
  const { db } = opened.store;
  const found = await Promise.all(['b', 'a', 'c', 'b'].map(async (key) => (await find(db, key))?.value));
  assert.deepEqual(found, [2, 1, undefined, 2]);
  assert.deepEqual(asked, [['b', 'a', 'c']]);
});

test('who asks later is asked for anew', async () => {
  const { db } = opened.store;
  assert.equal((await find(db, 'a'))?.value, 1);
  assert.equal((await find(db, 'a'))?.value, 1);
  assert.deepEqual(asked, [['a'], ['a']]);
});

test('a question that fails fails all who asked it, and nobody after them', async () => {
  const { db } = opened.store;
  const outcomes = await Promise.allSettled([find(db, 'a'), find(db, 'broken')]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal((await find(db, 'a'))?.value, 1);
});

test('a transaction asks by itself', async () => {
  const { store } = opened;
  const outside = find(store.db, 'a');
  const inside = await store.write(async ({ db }) => (await find(db, 'b'))?.value);
  assert.deepEqual([(await outside)?.value, inside], [1, 2]);
  assert.deepEqual(asked.map((keys) => keys.join()).toSorted(), ['a', 'b']);
});
