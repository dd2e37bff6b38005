import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isExcluded } from './excluded_paths.ts';
import { findExclusions, makeFolderRules, parseRules } from './linguist_attributes.ts';
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

/** The rules of the texts of files by folder. */
const rulesOf = (texts: Record<string, string>) =>
  makeFolderRules(new Map(Object.entries(texts).map(([folder, text]) => [folder, parseRules(text)])));

test('the nearest file comes first, for each attribute', () => {
  const rules = rulesOf({
    '': '*.ts linguist-generated\nlib/** linguist-vendored=true\n*.md linguist-documentation\n',
    lib: '*.ts -linguist-generated\n"own code/*" linguist-vendored=false\n',
    'lib/b': '*.ts !linguist-vendored\n',
  });
  const expected = {
    'a.ts': { generated: true },
    'a.js': {},
    'lib/a.js': { vendored: true },
    'lib/own code/a.ts': { generated: false, vendored: false },
    'lib/b/a.ts': { generated: false, vendored: null },
    'library/a.js': {},
    'x/a.md': { documentation: true },
  };
  for (const [path, said] of Object.entries(expected)) {
    assert.deepEqual(findExclusions(rules, path, { left: 1_000_000 }), said, path);
  }
});

test('each attribute comes before what the path suggests for its own reason only', () => {
  const rules = rulesOf({
    '': '* -linguist-generated\nown/** -linguist-vendored\ndocs/*.py -linguist-documentation\n',
  });
  const excluded = {
    'a.pb.go': false,
    'node_modules/a.js': true,
    'vendor/a.pb.go': true,
    'own/vendor/a.pb.go': false,
    'docs/a.js': true,
    'docs/a.py': false,
    'docs/vendor/a.py': true,
  };
  for (const [path, is] of Object.entries(excluded)) {
    assert.equal(isExcluded(path, findExclusions(rules, path, { left: 1_000_000 })), is, path);
  }
});

test('hostile patterns end when their steps are used up', () => {
  const rules = parseRules(`${'*a'.repeat(120)}b linguist-generated\n`.repeat(1_000));
  assert.equal(rules.length, 200);
  const budget = { left: 1_000_000 };
  const ofRoot = makeFolderRules(new Map([['', rules]]));
  assert.deepEqual(findExclusions(ofRoot, 'a'.repeat(4_000), budget), {});
  assert.ok(budget.left < 0);
});

test('steps depend on the folders of a file, not on how many folders have rules', () => {
  const other = Array.from({ length: 100 }, (_, at) => [`other${at}`, '* linguist-generated\n']);
  const rules = rulesOf({ ...Object.fromEntries(other), own: '*.ts linguist-generated\n' });
  const budget = { left: 1_000 };
  assert.deepEqual(findExclusions(rules, 'own/a.ts', budget), { generated: true });
  assert.ok(budget.left > 900);
  // Names of folders that are compared count by their length.
  const long = 'x'.repeat(4_000);
  const spent = { left: 100_000 };
  findExclusions(rulesOf({ [long]: '*.ts linguist-generated\n' }), `${long}/a`, spent);
  assert.ok(spent.left < 96_000);
});
