import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Count, countedNames, noFailures, originOf, refusedFor, withFailure } from './attempts.ts';

const failing = (times: number, count: Count, now: number, apart = 0): Count => {
  let made = count;
  for (let n = 0; n < times; n += 1) made = withFailure(made, now + n * apart);
  return made;
};

test('ten failures within a minute refuse the next try for a minute, nine do not', () => {
  assert.equal(refusedFor(failing(9, noFailures, 1e6), 1e6), 0);
  const count = failing(10, noFailures, 1e6);
  assert.equal(refusedFor(count, 1e6), 60_000);
  assert.equal(refusedFor(count, 1e6 + 59_999), 1);
  assert.equal(refusedFor(count, 1e6 + 60_000), 0);
});

test('failures further apart are not counted together', () => {
  assert.equal(refusedFor(failing(40, noFailures, 1e6, 7_000), 1e6 + 40 * 7_000), 0);
});

test('each refusal is twice as long, up to an hour; an hour of peace begins anew', () => {
  let count = noFailures;
  let now = 1e6;
  const refusals: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    count = failing(10, count, now);
    refusals.push(refusedFor(count, now) / 60_000);
    now += refusedFor(count, now);
  }
  assert.deepEqual(refusals, [1, 2, 4, 8, 16, 32, 60, 60]);
  assert.equal(refusedFor(failing(10, count, now + 3_600_000), now + 3_600_000), 60_000);
});

test('an address of IPv6 stands for its network, one of IPv4 for itself', () => {
  assert.equal(originOf('203.0.113.7'), '203.0.113.7');
  assert.equal(originOf('::ffff:203.0.113.7'), '203.0.113.7');
  const networks = ['2001:db8:1:2::1', '2001:0DB8:0001:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3:4:5:6'];
  for (const address of networks) assert.equal(originOf(address), '2001:db8:1:2::/64');
  assert.equal(originOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(originOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(originOf('::1'), '0:0:0:0::/64');
});

test('a port that a proxy tells makes no other address', () => {
  assert.equal(originOf('203.0.113.7:50123'), '203.0.113.7');
  assert.equal(originOf('[2001:db8:1:2::1]:50123'), '2001:db8:1:2::/64');
  assert.equal(originOf('[2001:db8:1:2::1]'), '2001:db8:1:2::/64');
});

test('an account is counted in any case, and not by its text', () => {
  const [origin, account] = countedNames('203.0.113.7', ' Name ');
  assert.equal(origin, '203.0.113.7');
  assert.equal(account, countedNames('203.0.113.7', 'name')[1]);
  assert.doesNotMatch(account, /name/i);
});
