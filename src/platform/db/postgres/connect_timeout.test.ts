import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getConnectTimeout } from './connect_timeout.ts';

test('waits for a connection as long as the URL says', () => {
  const said = [
    '?connect_timeout=60',
    '?sslmode=require&connect_timeout=2',
    '',
    '?connect_timeout=0',
    '?connect_timeout=x',
  ];
  const milliseconds = said.map((query) => getConnectTimeout(`postgres://a:b@host/db${query}`));
  assert.deepEqual(milliseconds, [60_000, 2_000, 5_000, 5_000, 5_000]);
});
