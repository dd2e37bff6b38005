import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDisposition } from './range.ts';

test('names a file of any characters', () => {
  assert.equal(
    formatDisposition('attachment', 'a.txt'),
    `attachment; filename="a.txt"; filename*=UTF-8''a.txt`,
  );
  assert.equal(
    formatDisposition('inline', `it's "ü".txt`),
    `inline; filename="it's ___.txt"; filename*=UTF-8''it%27s%20%22%C3%BC%22.txt`,
  );
});

test('shortens a long name and keeps its ending', () => {
  for (const name of [`${'x'.repeat(4000)}.tar.gz`, `${'\u{1F600}'.repeat(2000)}.tar.gz`]) {
    const [, shortened = ''] = formatDisposition('attachment', name).split("UTF-8''");
    const decoded = decodeURIComponent(shortened);
    assert.equal([...decoded].length, 255);
    assert.ok(decoded.endsWith('.tar.gz'));
  }
});
