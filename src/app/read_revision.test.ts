import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readRevision } from './read_revision.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const shown = '0123456789a';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-revision-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

test('reads the revision from the file of a package', () => {
  write('REVISION', `${commit}\n`);
  assert.equal(readRevision(folder), shown);
});

test('reads the branch of a clone, loose or packed', () => {
  write('.git/HEAD', 'ref: refs/heads/main\n');
  write('.git/packed-refs', `# pack-refs with: peeled\n${commit} refs/heads/main\n`);
  assert.equal(readRevision(folder), shown);
  write('.git/refs/heads/main', `${commit.replace('0', 'f')}\n`);
  assert.equal(readRevision(folder), shown.replace('0', 'f'));
});

test('reads a detached commit', () => {
  write('.git/HEAD', `${commit}\n`);
  assert.equal(readRevision(folder), shown);
});

test('reads the branch of a worktree from its clone', () => {
  write('.git', 'gitdir: clone/.git/worktrees/one\n');
  write('clone/.git/worktrees/one/HEAD', 'ref: refs/heads/topic\n');
  write('clone/.git/worktrees/one/commondir', '../..\n');
  write('clone/.git/refs/heads/topic', `${commit}\n`);
  assert.equal(readRevision(folder), shown);
});

test('returns unknown without a file or clone', () => {
  assert.equal(readRevision(folder), 'unknown');
  write('.git/HEAD', 'ref: refs/heads/unborn\n');
  assert.equal(readRevision(folder), 'unknown');
});
