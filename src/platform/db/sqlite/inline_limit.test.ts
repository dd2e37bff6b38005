import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inlineLimit } from './inline_limit.ts';

test('writes the limit at the end of a statement into its text', () => {
  const cases = [
    ['select 1 limit ?', [20], 'select 1 limit 20', []],
    ['select ? limit ? offset ?', ['a', 20, 40], 'select ? limit 20 offset ?', ['a', 40]],
    ['select ?\n limit ?\n  offset ?\n', ['a', 5, 0], 'select ?\n limit 5\n  offset ?', ['a', 0]],
    ['select 1 from (select 1 limit ?) where a = ?', [3, 4], null, [3, 4]],
    ["select 'no limit ' || ?", ['x'], null, ['x']],
    ['select 1 limit ?', ['20'], null, ['20']],
    ['select 1 limit ?', [1.5], null, [1.5]],
    ['select 1', [], null, []],
  ] as const;
  for (const [text, parameters, inlined, rest] of cases)
    assert.deepEqual(inlineLimit(text, parameters), { text: inlined ?? text, parameters: rest });
});
