import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFolding, parseAttributes } from './gitattributes.ts';

const plenty = () => ({ left: 1_000_000 });

/** Returns what the attributes say of each path. */
const folding = (text: string, paths: string[]) => {
  const attributes = [{ folder: '', attributes: parseAttributes(text) }];
  return paths.map((path) => findFolding(attributes, path, plenty()));
};

test('reads attributes with signs and values', () => {
  const text = `# generated
a linguist-generated
b linguist-generated=true
c gitlab-generated
d -diff
e binary
f -linguist-generated
g linguist-generated=false
h text=auto eol=lf
`;
  const expected = [
    'generated',
    'generated',
    'generated',
    'suppressed',
    'suppressed',
    'shown',
    'shown',
    null,
  ];
  assert.deepEqual(folding(text, 'a b c d e f g h'.split(' ')), expected);
});

test('the last line that matches counts, for each attribute', () => {
  const text = '*.ts linguist-generated\n*.ts -linguist-generated\n*.js -diff\nlib.js diff\n';
  assert.deepEqual(folding(text, ['a.ts', 'a.js', 'lib.js']), ['shown', 'suppressed', 'shown']);
  assert.deepEqual(folding('* linguist-generated\na !linguist-generated', ['a', 'b']), [null, 'generated']);
});

test('patterns without a slash are about names, others about paths', () => {
  const generated = (pattern: string, paths: string[]) =>
    folding(`${pattern} linguist-generated`, paths).map((found) => found !== null);
  assert.deepEqual(generated('*.pb.ts', ['x.pb.ts', 'a/b/x.pb.ts', 'x.ts']), [true, true, false]);
  assert.deepEqual(generated('/gen.ts', ['gen.ts', 'a/gen.ts']), [true, false]);
  assert.deepEqual(generated('gen/*.ts', ['gen/a.ts', 'gen/b/a.ts', 'x/gen/a.ts']), [true, false, false]);
  assert.deepEqual(generated('gen/**', ['gen/a', 'gen/b/c', 'gen']), [true, true, false]);
  assert.deepEqual(generated('**/gen/**', ['gen/a', 'x/gen/b/c', 'gen']), [true, true, false]);
  assert.deepEqual(generated('a/**/z', ['a/z', 'a/b/c/z', 'a/b']), [true, true, false]);
  assert.deepEqual(generated('"with space.ts"', ['with space.ts', 'with']), [true, false]);
  assert.deepEqual(generated('{a,b}.ts', ['a.ts', '{a,b}.ts']), [false, true]);
  assert.deepEqual(generated('gen/', ['gen', 'gen/a']), [false, false]);
});

test('the file of a folder comes before those above, for each attribute, and names its own paths', () => {
  const files = Object.entries({
    '': '*.gen linguist-generated\n*.txt -diff\n/top linguist-generated\n',
    a: '*.gen -linguist-generated\n/top linguist-generated\nsub/x -diff\n',
    'a/b': '*.gen !linguist-generated\n*.txt diff\n',
  }).map(([folder, text]) => ({ folder, attributes: parseAttributes(text) }));
  const expected = {
    'x.gen': 'generated',
    'a/x.gen': 'shown',
    'a/b/x.gen': null,
    'ab/x.gen': 'generated',
    'a/x.txt': 'suppressed',
    'a/b/c/x.txt': 'shown',
    top: 'generated',
    'a/top': 'generated',
    'a/b/top': null,
    'a/sub/x': 'suppressed',
    'sub/x': null,
  };
  for (const [path, folded] of Object.entries(expected)) {
    assert.equal(findFolding(files, path, plenty()), folded, path);
  }
});

test('hostile patterns and paths end when their steps are used up', () => {
  const line = `${'*a'.repeat(120)}b linguist-generated\n`;
  const attributes = parseAttributes(line.repeat(1_000));
  assert.equal(attributes.rules.length, 200);
  const budget = plenty();
  const path = 'a'.repeat(4_000);
  assert.equal(findFolding([{ folder: '', attributes }], path, budget), null);
  assert.ok(budget.left < 0);
  assert.deepEqual(parseAttributes(`${'x'.repeat(256)} -diff`).rules, []);
});
