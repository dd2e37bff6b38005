import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPatience } from './postgres_patience.ts';

test('a connection is waited for as long as the URL says', () => {
  const said = [
    '?connect_timeout=60',
    '?sslmode=require&connect_timeout=2',
    '',
    '?connect_timeout=0',
    '?connect_timeout=x',
  ];
  const milliseconds = said.map((query) => connectPatience(`postgres://a:b@host/db${query}`));
  assert.deepEqual(milliseconds, [60_000, 2_000, 5_000, 5_000, 5_000]);
});
