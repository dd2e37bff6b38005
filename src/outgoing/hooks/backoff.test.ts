/** The pauses between attempts grow to a day, and spread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getPause } from './backoff.ts';

const day = 86_400_000;
const failures = Array.from({ length: 1_000 }, (_one, index) => index + 1);

test('the first pauses are 1, 5, 15 and 60 seconds, whatever is drawn', () => {
  for (const random of [0, 0.5, 0.999])
    assert.deepEqual(
      [1, 2, 3, 4].map((count) => getPause(count, random)),
      [1_000, 5_000, 15_000, 60_000],
    );
});

test('later pauses are three times as long as the one before, up to a day', () => {
  const pauses = failures.map((count) => getPause(count, 1));
  assert.deepEqual(pauses.slice(4, 7), [180_000, 540_000, 1_620_000]);
  assert.deepEqual(
    pauses,
    pauses.toSorted((one, other) => one - other),
  );
  assert.equal(pauses.at(-1), day);
  assert.equal(pauses.filter((pause) => pause === day).length, failures.length - 10);
});

test('later pauses are drawn from the last fifth', () => {
  assert.equal(getPause(5, 0), 144_000);
  assert.equal(getPause(5, 0.5), 162_000);
  assert.equal(getPause(1_000, 0), 0.8 * day);
});
