import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { forEachConcurrently } from './for_each_concurrently.ts';

const count = async function* count(to: number, onEnd: () => void = () => undefined): AsyncGenerator<number> {
  try {
    for (let number = 1; number <= to; number += 1) yield number;
  } finally {
    onEnd();
  }
};

for (const [what, items] of [
  ['a list', () => Array.from({ length: 9 }, (_item, at) => at + 1)],
  ['a generator', () => count(9)],
] as const)
  test(`works on as many items of ${what} at once as it may`, async () => {
    let [running, most] = [0, 0];
    const done: number[] = [];
    await forEachConcurrently(items(), 4, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      done.push(item);
    });
    assert.equal(most, 4);
    assert.deepEqual(
      done.toSorted((one, other) => one - other),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

test('begins nothing more after a failure, and ends when nothing runs', async () => {
  const begun: number[] = [];
  let [running, isClosed] = [0, false];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    running += 1;
    await turn();
    await (item === 2 ? undefined : turn());
    running -= 1;
    if (item === 2) throw new Error('item 2');
  };
  const items = count(100, () => void (isClosed = true));
  await assert.rejects(forEachConcurrently(items, 3, work), /item 2/);
  assert.equal(running, 0);
  assert.ok(isClosed);
  assert.ok(begun.length < 10, `${begun.length}`);
});
