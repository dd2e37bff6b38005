import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrailers } from './trailers.ts';

test('reads names and values without the spaces around them', () => {
  assert.deepEqual(readTrailers('Title\n\nFixes : one: two \n three\r\nSigned-off-by:Ada'), [
    ['Fixes', 'one: two three'],
    ['Signed-off-by', 'Ada'],
  ]);
  for (const line of [' Fixes: one', 'Two words: one', ': one', 'Fixes']) {
    assert.deepEqual(readTrailers(`Title\n\n${line}`), [], line);
  }
});

test('reads a long line of spaces in one pass', () => {
  const spaces = ' '.repeat(2_000_000);
  assert.deepEqual(readTrailers(`Title\n\na:${spaces}x\ry`), [['a', 'x\ry']]);
  assert.deepEqual(readTrailers(`Title\n\na${spaces}: y`), [['a', 'y']]);
});
