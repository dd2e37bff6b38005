import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldCase, normalizeText } from './unicode.ts';

describe('normalizeText', () => {
  it('keeps 30 marks of a letter and drops the rest', () => {
    const marks = '\u0328'.repeat(200);
    assert.equal(normalizeText(`x${marks}y`, 'NFC'), `x${'\u0328'.repeat(30)}y`);
    assert.equal(normalizeText(`e\u0308${marks}`, 'NFC'), `ę${'\u0328'.repeat(28)}\u0308`);
  });
  it('composes as any normalizer does where there are fewer', () => {
    for (const text of ['', 'abc', 'a\u0308', 'u\u0308\u0304', 'ﬁ', '각', `a${'\u0301\u0323'.repeat(15)}`]) {
      for (const form of ['NFC', 'NFKD'] as const)
        assert.equal(normalizeText(text, form), text.normalize(form));
    }
  });
});

describe('foldCase', () => {
  it('makes texts equal that differ only in case or composition', () => {
    assert.equal(foldCase('A\u0308PFEL'), 'äpfel');
    assert.equal(foldCase('ÄPFEL'), foldCase('a\u0308pfel'));
    assert.equal(foldCase('İ'), foldCase(foldCase('İ')));
  });

  it('folding the case of a text twice gives the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(foldCase(foldCase(text)), foldCase(text));
      }),
    );
    const mark = fc.constantFrom('\u0301', '\u0344', '\u0323', '\u{1d160}', 'İ', '\u0345', 'a');
    fc.assert(
      fc.property(fc.array(mark, { minLength: 25, maxLength: 80 }), (marks) => {
        const text = marks.join('');
        assert.equal(foldCase(foldCase(text)), foldCase(text));
      }),
    );
  });
});
