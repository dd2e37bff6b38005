import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSuggestions } from './parse_suggestions.ts';

test('finds the suggestions of a text, and leaves the rest', () => {
  const body = 'Better:\n\n```suggestion:-1+2\none\n\ntwo\n```\n\nor\n~~~suggestion\n~~~\nEnd';
  assert.deepEqual(parseSuggestions(body), {
    suggestions: [
      { lines_above: 1, lines_below: 2, to_content: 'one\n\ntwo\n' },
      { lines_above: 0, lines_below: 0, to_content: '' },
    ],
    text: 'Better:\n\n\n\n\n\n\n\nor\n\n\nEnd',
  });
});

test('a block in another block, or without an end, is none', () => {
  const inner = '````md\n```suggestion\nx\n```\n````';
  assert.deepEqual(parseSuggestions(inner), { suggestions: [], text: inner });
  assert.deepEqual(parseSuggestions('```suggestion\nx').suggestions, []);
  assert.deepEqual(parseSuggestions('```suggestions\nx\n```').suggestions, []);
});

test('a longer fence can hold a shorter one, and ranges are bounded', () => {
  const { suggestions } = parseSuggestions('````suggestion:-999+0\n```js\n```\n````');
  assert.deepEqual(suggestions, [{ lines_above: 100, lines_below: 0, to_content: '```js\n```\n' }]);
});
