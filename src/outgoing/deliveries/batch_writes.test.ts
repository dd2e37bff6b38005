import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { makeBatchWriter } from './batch_writes.ts';

/** Doubles numbers; a batch with a negative one fails. */
const makeDoubler = (pause: number, maxItems = 3) => {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const write = makeBatchWriter<number, number>(
    async (items) => {
      batches.push(items);
      await new Promise<void>((resolve) => void release.push(resolve));
      if (items.some((item) => item < 0)) throw new Error(`failed: ${items.join()}`);
      return items.map((item) => item * 2);
    },
    { maxItems, pause, isUrgent: (item) => item >= 100 },
  );
  /** Lets all batches end that begin until these promises are settled. */
  const settle = async (promises: Promise<number>[]): Promise<(number | string)[]> => {
    const ended = Promise.allSettled(promises);
    let isOver = false;
    void ended.then(() => void (isOver = true));
    while (!isOver) {
      release.splice(0).forEach((end) => end());
      await new Promise((resolve) => void setImmediate(resolve));
    }
    return (await ended).map((one) =>
      one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
    );
  };
  return { batches, write, settle };
};

test('items that arrive during a pause or a batch are written together', async () => {
  const { batches, write, settle } = makeDoubler(1);
  const first = [write(1), write(2)];
  await until('the first batch begins', () => batches.length === 1);
  const later = [3, 4, 5, 6].map(async (item) => await write(item));
  assert.deepEqual(await settle([...first, ...later]), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(batches, [[1, 2], [3, 4, 5], [6]]);
});

test('a full batch and an urgent item do not wait for a pause', async () => {
  const { batches, write, settle } = makeDoubler(1_000_000);
  assert.deepEqual(await settle([write(1), write(2), write(3)]), [2, 4, 6]);
  assert.deepEqual(await settle([write(4), write(100)]), [8, 200]);
  assert.deepEqual(batches, [
    [1, 2, 3],
    [4, 100],
  ]);
});

test('an item that fails does not fail the others of its batch', async () => {
  const { batches, write, settle } = makeDoubler(1);
  assert.deepEqual(await settle([write(1), write(-2), write(3)]), [2, 'failed: -2', 6]);
  assert.deepEqual(batches, [[1, -2, 3], [1], [-2], [3]]);
});
