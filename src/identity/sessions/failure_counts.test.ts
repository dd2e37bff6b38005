import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Count, getCountedNames, noFailures, getRefusalTime, addFailure } from './failure_counts.ts';

const failing = (times: number, count: Count, now: number, gap = 0): Count => {
  let made = count;
  for (let n = 0; n < times; n += 1) made = addFailure(made, now + n * gap);
  return made;
};

test('refuses for a minute after ten failures within a minute', () => {
  assert.equal(getRefusalTime(failing(9, noFailures, 1e6), 1e6), 0);
  const count = failing(10, noFailures, 1e6);
  assert.equal(getRefusalTime(count, 1e6), 60_000);
  assert.equal(getRefusalTime(count, 1e6 + 59_999), 1);
  assert.equal(getRefusalTime(count, 1e6 + 60_000), 0);
});

test('does not add up failures more than a minute apart', () => {
  assert.equal(getRefusalTime(failing(40, noFailures, 1e6, 7_000), 1e6 + 40 * 7_000), 0);
});

test('doubles each refusal up to an hour and resets after an hour without failures', () => {
  let count = noFailures;
  let now = 1e6;
  const refusals: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    count = failing(10, count, now);
    refusals.push(getRefusalTime(count, now) / 60_000);
    now += getRefusalTime(count, now);
  }
  assert.deepEqual(refusals, [1, 2, 4, 8, 16, 32, 60, 60]);
  assert.equal(getRefusalTime(failing(10, count, now + 3_600_000), now + 3_600_000), 60_000);
});

test('counts an account in any case, by a hash', () => {
  const [origin, account] = getCountedNames('203.0.113.7', ' Name ');
  assert.equal(origin, '203.0.113.7');
  assert.equal(account, getCountedNames('203.0.113.7', 'name')[1]);
  assert.doesNotMatch(account, /name/i);
});
