import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathProblem, projectPathProblem } from './path_rules.ts';

const format = /^can contain only letters, digits, '_', '-' and '\.'\. Cannot start with '-'/;

test('accepts letters, digits, dashes, dots and underscores in a path', () => {
  for (const path of ['a', 'A1', '_x', '.hidden', 'a-b_c.d', 'a-', '123', 'x'.repeat(255)]) {
    assert.equal(pathProblem(path), null, path);
    assert.equal(projectPathProblem(path), null, path);
  }
});

test('refuses other characters, a leading dash and repository suffixes', () => {
  const bad = [
    '-a',
    'a b',
    'a/b',
    '..',
    '.',
    'ä',
    'a\n',
    'a?b',
    'a%2f',
    'a.git',
    'a.GIT',
    'a.atom',
    '.git',
    '.atom',
  ];
  for (const path of bad) {
    assert.match(pathProblem(path) ?? '', format, path);
    assert.match(projectPathProblem(path) ?? '', format, path);
  }
});

test('refuses a trailing dot for namespaces only', () => {
  assert.match(pathProblem('a.') ?? '', format);
  assert.equal(projectPathProblem('a.'), null);
});

test('refuses empty paths and paths longer than 255 characters', () => {
  for (const problemOf of [pathProblem, projectPathProblem]) {
    assert.equal(problemOf(''), "can't be blank");
    assert.equal(problemOf('  '), "can't be blank");
    assert.equal(problemOf('x'.repeat(256)), 'is too long (maximum is 255 characters)');
  }
});

test('reserves the first segments of the service at the top level, in any case', () => {
  for (const word of ['admin', 'API', 'Users', 'robots.txt', '.well-known', 's', 'v2', 'uploads', 'help']) {
    assert.equal(pathProblem(word), `${word} is a reserved name`);
    assert.equal(pathProblem(word, 'nested'), null);
  }
  assert.equal(pathProblem('administrators'), null);
});

test('reserves the segments of project pages below groups and for projects', () => {
  for (const word of ['tree', 'Blob', 'wikis', 'new', 'refs']) {
    assert.equal(pathProblem(word, 'nested'), `${word} is a reserved name`);
    assert.equal(projectPathProblem(word), `${word} is a reserved name`);
    assert.equal(pathProblem(word), null);
  }
});
