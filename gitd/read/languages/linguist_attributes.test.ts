import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findExclusion, parseRules } from './linguist_attributes.ts';
import { compilePattern } from './path_pattern.ts';

test('matches paths as git does', () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ['*.gen', ['a.gen', 'b/c/a.gen', '.gen'], ['a.gen.ts', 'gen']],
    ['/top', ['top'], ['a/top', 'top/a']],
    ['a/*.ts', ['a/b.ts'], ['a/b/c.ts', 'x/a/b.ts']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a/c']],
    ['**/gen/**', ['gen/a', 'x/y/gen/b/c'], ['gen', 'x/gen']],
    ['a/**/z', ['a/z', 'a/b/c/z'], ['a/b', 'z']],
    ['a?[0-9].[!x]', ['ab1.y', 'd/a-9.z'], ['ab1.x', 'abb.y', 'a1.y']],
    [String.raw`\*\[x]`, ['*[x]'], ['a[x]', '*x']],
    ['*a*b*', ['xaxbx', 'ab'], ['ba']],
  ];
  for (const [pattern, yes, no] of cases) {
    const matches = compilePattern(pattern);
    for (const path of yes) assert.equal(matches(path), true, `${pattern} ${path}`);
    for (const path of no) assert.equal(matches(path), false, `${pattern} ${path}`);
  }
});

test('the nearest file comes first, for each attribute', () => {
  const files = Object.entries({
    '': '*.ts linguist-generated\nlib/** linguist-vendored=true\n*.md linguist-documentation\n',
    lib: '*.ts -linguist-generated\n"own code/*" linguist-vendored=false\n',
    'lib/b': '*.ts !linguist-vendored\n',
  }).map(([folder, text]) => ({ folder, rules: parseRules(text) }));
  const expected = {
    'a.ts': true,
    'a.js': null,
    'lib/a.js': true,
    'lib/own code/a.ts': false,
    'lib/b/a.ts': false,
    'library/a.js': null,
    'x/a.md': true,
  };
  for (const [path, excluded] of Object.entries(expected)) {
    assert.equal(findExclusion(files, path, { left: 1_000_000 }), excluded, path);
  }
});

test('hostile patterns end when their steps are used up', () => {
  const rules = parseRules(`${'*a'.repeat(120)}b linguist-generated\n`.repeat(1_000));
  assert.equal(rules.length, 200);
  const budget = { left: 1_000_000 };
  assert.equal(findExclusion([{ folder: '', rules }], 'a'.repeat(4_000), budget), null);
  assert.ok(budget.left < 0);
});
