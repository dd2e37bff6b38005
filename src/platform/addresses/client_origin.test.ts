import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getOrigin } from './client_origin.ts';

test('counts an IPv6 address by its network and an IPv4 address by itself', () => {
  assert.equal(getOrigin('203.0.113.7'), '203.0.113.7');
  assert.equal(getOrigin('::ffff:203.0.113.7'), '203.0.113.7');
  const networks = ['2001:db8:1:2::1', '2001:0DB8:0001:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3:4:5:6'];
  for (const address of networks) assert.equal(getOrigin(address), '2001:db8:1:2::/64');
  assert.equal(getOrigin('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(getOrigin('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(getOrigin('::1'), '0:0:0:0::/64');
});

test('ignores the port that a proxy adds', () => {
  assert.equal(getOrigin('203.0.113.7:50123'), '203.0.113.7');
  assert.equal(getOrigin('[2001:db8:1:2::1]:50123'), '2001:db8:1:2::/64');
  assert.equal(getOrigin('[2001:db8:1:2::1]'), '2001:db8:1:2::/64');
});
