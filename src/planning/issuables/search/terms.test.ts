import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldCase } from '../../../platform/unicode.ts';
import { searchTerms } from './terms.ts';

describe('searchTerms', () => {
  const rows: [string, string[]][] = [
    ['broken build', ['broken', 'build']],
    ['  broken\t\n build ', ['broken', 'build']],
    ['is it broken', ['broken']],
    ['"is it broken" today', ['is it broken', 'today']],
    ['say "is it', ['say', '"is']],
    ['a"quoted phrase"b', ['a"quoted', 'phrase"b']],
    ['"one two" "three four"', ['one two', 'three four']],
    ['Build BUILD build', ['build']],
    ['ÄPFEL', ['äpfel']],
    ['100% a_b c\\d', ['100%', 'a_b', 'c\\d']],
    ['a b', ['a b']],
    [' Is It ', ['is it']],
    ['"ab"', ['"ab"']],
    ['""', ['""']],
    ['%', ['%']],
    ['日本', ['日本']],
    ['日本語', ['日本語']],
    ['😀😀 😀😀😀', ['😀😀😀']],
    ['', []],
    [' \t ', []],
  ];
  for (const [text, expected] of rows) {
    it(`splits ${JSON.stringify(text)}`, () => assert.deepEqual(searchTerms(text), expected));
  }

  it('gives distinct folded terms that all occur in the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const terms = searchTerms(text);
        assert.equal(new Set(terms).size, terms.length);
        assert.equal(terms.length === 0, text.trim() === '');
        for (const term of terms) {
          assert.ok(foldCase(text).includes(term));
          assert.equal(foldCase(term), term);
        }
      }),
    );
  });

  it('splits a long text into terms in little time', () => {
    for (const piece of ['"', '" ', '"a ', ' ', 'a', 'ab ', '"a" ']) {
      const text = piece.repeat(100_000);
      assert.ok(searchTerms(text).length <= 1, JSON.stringify(piece));
    }
  });
});
