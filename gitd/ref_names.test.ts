import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { isFullRef, isNewRef, isShortName } from './ref_names.ts';

const gitTakes = (name: string): boolean => {
  try {
    execFileSync('git', ['check-ref-format', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Fragments of names that a hostile client may send. */
const pieces = [
  'a',
  'B-1',
  '.',
  '..',
  '.a',
  'a.',
  'a.lock',
  '@',
  '@{',
  '{',
  '-',
  '~',
  '^',
  ':',
  '?',
  '*',
  '[',
];
const more = [
  '\\',
  ' ',
  '\t',
  '\u007f',
  '',
  'ä',
  '.lock',
  'a..b',
  'x.lock.y',
  '#',
  '"',
  "'",
  '$(id)',
  'HEAD',
  '|',
];
const names = [...pieces, ...more].flatMap((one) => [
  `refs/heads/${one}`,
  `refs/heads/${one}/b`,
  `refs/heads/a/${one}`,
  `refs/heads/a${one}b`,
]);

it('accepts exactly the refs that git accepts', () => {
  for (const name of names) assert.equal(isFullRef(name), gitTakes(name), JSON.stringify(name));
});

it('refuses names that git would read as something else', () => {
  for (const name of ['-x', '--upload-pack=x', 'HEAD', 'refs/heads/x', 'a'.repeat(40), 'A'.repeat(40)])
    assert.equal(isShortName(name), false, name);
  for (const name of ['main', 'feature/x', 'x-1', 'a'.repeat(39), 'ärger', 'v1.0'])
    assert.equal(isShortName(name), true, name);
});

it('refuses names that deceive readers', () => {
  for (const name of ['a\u202eb', 'a\u200bb', 'a\u0085b', '\ufeffa', 'a\ufffd', 'a\u{e0041}', '\ud800'])
    assert.equal(isShortName(name), false, JSON.stringify(name));
});

it('refuses names that are too long for a file system', () => {
  assert.equal(isShortName('a/'.repeat(127) + 'a'), true);
  assert.equal(isShortName('a/'.repeat(127) + 'aa'), false);
  assert.equal(isShortName('ä'.repeat(126)), false);
  assert.equal(isFullRef(`refs/heads/${'a'.repeat(251)}`), false);
});

it('creates no ref with a name that it would refuse to read later', () => {
  assert.equal(isNewRef('refs/heads/main'), true);
  assert.equal(isNewRef('refs/merge-requests/1/head'), true);
  assert.equal(isNewRef('refs/keep-around/x'), true);
  for (const name of [
    'refs/heads/-x',
    'refs/tags/HEAD',
    'HEAD',
    'refs/x',
    'heads/x',
    `refs/heads/${'0'.repeat(40)}`,
  ])
    assert.equal(isNewRef(name), false, name);
});
