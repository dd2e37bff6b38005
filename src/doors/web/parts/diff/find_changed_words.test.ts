import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Span, findDifferences, markSpans } from './find_changed_words.ts';

const words = (line: string, spans: readonly Span[]): string[] => spans.map((span) => line.slice(...span));

const compare = (old: string, fresh: string): [string[], string[]] | null => {
  const found = findDifferences(old, fresh);
  return found === null ? null : [words(old, found.old), words(fresh, found.fresh)];
};

test('finds several words that differ, on both sides', () => {
  assert.deepEqual(compare('const first = add(a, b);', 'const second = add(a, c);'), [
    ['first', 'b'],
    ['second', 'c'],
  ]);
});

test('finds what only one side has', () => {
  assert.deepEqual(compare('call(a)', 'call(a, b)'), [[], [', b']]);
  assert.deepEqual(compare('a b', 'a  b'), [[' '], ['  ']]);
});

test('lines that have little in common, or nothing different, are not compared', () => {
  assert.equal(compare('return total;', 'const half = (part) => part / 2;'), null);
  assert.equal(compare('same', 'same'), null);
  assert.equal(compare('x'.repeat(2_000), `${'x'.repeat(2_000)}y`), null);
});

test('a pair of surrogates stays whole', () => {
  assert.deepEqual(compare('many equal words 😀', 'many equal words 😁'), [['😀'], ['😁']]);
});

test('of many words, all between the common ends is one difference', () => {
  const [start, end] = ['x'.repeat(400), 'y'.repeat(100)];
  const [old, fresh] = ['.,'.repeat(125), ',.'.repeat(125)];
  assert.deepEqual(compare(`${start}!${old}!${end}`, `${start}?${fresh}?${end}`), [
    [`!${old}!`],
    [`?${fresh}?`],
  ]);
});

test('marks spans across elements and character references', () => {
  const markup = '<span class="k">return</span> a &lt; b;';
  assert.equal(
    markSpans(markup, [
      [3, 8],
      [9, 10],
    ]),
    '<span class="k">ret<mark>urn</mark></span><mark> a</mark> <mark>&lt;</mark> b;',
  );
  assert.equal(markSpans('plain', []), 'plain');
  assert.equal(markSpans('plain', [[0, 5]]), '<mark>plain</mark>');
});
