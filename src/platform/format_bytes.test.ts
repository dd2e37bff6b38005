import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes } from './format_bytes.ts';

test('formats sizes in powers of 1,024', () => {
  const sizes = [0, 1, 1023, 1024, 1536, 100 * 2 ** 20, 2.5 * 2 ** 30, 2 ** 50];
  assert.deepEqual(sizes.map(formatBytes), [
    '0 bytes',
    '1 byte',
    '1023 bytes',
    '1 KiB',
    '1.5 KiB',
    '100 MiB',
    '2.5 GiB',
    '1024 TiB',
  ]);
});
