import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePathPattern } from './fnmatch.ts';

test('paths are matched as by File.fnmatch with PATHNAME, DOTMATCH and EXTGLOB', () => {
  const rows: [string, string, boolean][] = [
    ['README.md', 'README.md', true],
    ['readme.md', 'README.md', false],
    ['*.md', 'README.md', true],
    ['*.md', 'docs/README.md', false],
    ['*', '.hidden', true],
    ['docs/*', 'docs/a', true],
    ['docs/*', 'docs/a/b', false],
    ['**/*.rb', 'a.rb', true],
    ['**/*.rb', 'a/b/c.rb', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['src/**/*.ts', 'lib/a.ts', false],
    ['src/**', 'src/a.c', true],
    ['src/**', 'src/x/a.c', false],
    ['src/**/*', 'src/x/a.c', true],
    ['**', 'a', true],
    ['**', 'a/b', false],
    ['**foo/a', 'xfoo/a', true],
    ['**foo/a', 'x/foo/a', false],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['[ab].c', 'a.c', true],
    ['[!t].c', 'a.c', true],
    ['[!t].c', 't.c', false],
    ['[^t].c', 't.c', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[ab', 'a', false],
    ['{a,b}/c', 'b/c', true],
    ['{a,b{1,2}}/c', 'b2/c', true],
    ['{a,b}/c', 'c/c', false],
    ['*.{md,txt}', 'x.txt', true],
    ['a{b', 'a{b', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['!x', '!x', true],
    ['!x', 'y', false],
    ['+(x)', 'x', false],
    ['@(a|b)', 'a', false],
    ['.gitlab/**/*.yml', '.gitlab/ci/a.yml', true],
    ['ünï*', 'ünïx', true],
    ['', '', true],
    ['a', '', false],
  ];
  for (const [pattern, path, is] of rows)
    assert.equal(compilePathPattern(pattern)(path), is, `${pattern} ${path}`);
});

test('many stars and many braces stay bounded', () => {
  assert.equal(compilePathPattern('*a'.repeat(2000))('a'.repeat(3000)), true);
  assert.equal(compilePathPattern(`${'*a'.repeat(2000)}b`)('a'.repeat(3000)), false);
  assert.equal(compilePathPattern('{a,b}'.repeat(40))('x'), false);
  assert.equal(compilePathPattern('**/'.repeat(500) + 'x')('a/'.repeat(500) + 'y'), false);
});
