import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { likePattern } from './contains_text.ts';

describe('likePattern', () => {
  const db = new DatabaseSync(':memory:');
  const like = db.prepare(String.raw`select ? like ? escape '\' as found`);
  after(() => db.close());

  it('escapes the characters that LIKE treats specially', () => {
    assert.equal(likePattern('build'), '%build%');
    assert.equal(likePattern('100%_\\'), String.raw`%100\%\_\\%`);
  });

  it('finds in a database exactly what contains the term', () => {
    const text = fc.string({ unit: fc.constantFrom('%', '_', '\\', 'a', 'b', "'") });
    fc.assert(
      fc.property(text, text, (haystack, term) => {
        const row = like.get(haystack, likePattern(term));
        assert.equal(row?.['found'], haystack.includes(term) ? 1 : 0);
      }),
    );
  });
});
