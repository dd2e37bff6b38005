import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { tryGit, type WorkTree } from '../../test/support/repositories/git.ts';
import {
  type TestRepository,
  newRepositoryAndTree,
  useStorage,
} from '../../test/support/repositories/repository_storage.ts';
import type { Signature } from '../protocol_records.ts';

let repository: TestRepository;
let tree: WorkTree;

const storage = useStorage();
beforeEach(async () => void ({ repository, tree } = await newRepositoryAndTree(storage)));
afterEach(async () => {
  assert.equal(await repository.fsck(), '', 'fsck is clean');
  await repository.context.pools.endWorkers(repository.dir);
  const left = (await readdir(join(repository.dir, 'objects'))).filter((name) => name.startsWith('tmp'));
  assert.deepEqual(left, [], 'no quarantine is left');
  await tree.remove();
});

const ada: Signature = { name: 'Ada', email: 'ada@example.com', time: 1_600_000_000, offset: '+0000' };
const bob: Signature = { name: 'Bob', email: 'bob@example.com', time: 1_600_000_009, offset: '-0300' };
const by = { author: ada, committer: bob };

/** Writes files (null removes one), commits and returns the id. */
const commit = async (message: string, files: Record<string, string | Buffer | null>): Promise<string> => {
  for (const [name, content] of Object.entries(files)) {
    const path = join(tree.path, name);
    await mkdir(dirname(path), { recursive: true });
    await (content === null ? rm(path, { recursive: true }) : writeFile(path, content));
  }
  return await tree.commit(message, {});
};

const take = async (): Promise<void> =>
  void (await repository.git('fetch', '--quiet', '--update-head-ok', tree.path, '+refs/*:refs/*'));

const treeOf = async (id: string): Promise<string> => await repository.git('rev-parse', `${id}^{tree}`);
const text = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

/** Merges both branches with git. Returns the tree; null on conflicts. */
const mergeByGit = async (): Promise<string | null> => {
  await tree.git('checkout', '--quiet', 'ours');
  const { code } = await tryGit(tree.path, ['merge', '--no-ff', '--quiet', '-m', 'merge', 'theirs']);
  if (code !== 0) return null;
  return await tree.git('rev-parse', 'HEAD^{tree}');
};

const countObjects = async (): Promise<string> => await repository.git('count-objects', '-v');

/** Lists the ids of this repository's git processes with this command. */
const processesOf = async (command: string): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = pids.map(async (pid) => {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return line.includes(repository.dir) && line.includes(command) ? [Number(pid)] : [];
  });
  return (await Promise.all(lines)).flat();
};

type Case = { name: string; clean: boolean; conflicts?: string[]; make: () => Promise<void> };

const branchBoth = async (
  base: Record<string, string | Buffer | null>,
  ours: Record<string, string | Buffer | null>,
  theirs: Record<string, string | Buffer | null>,
): Promise<void> => {
  await commit('base', base);
  await tree.git('branch', 'theirs');
  await tree.git('checkout', '--quiet', '-b', 'ours');
  await commit('ours', ours);
  await tree.git('checkout', '--quiet', 'theirs');
  await commit('theirs', theirs);
};

const binary = (byte: number): Buffer => Buffer.from([0, 1, 2, byte, 0, 255]);

const cases: Case[] = [
  {
    name: 'different files',
    clean: true,
    make: async () => branchBoth({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' }),
  },
  {
    name: 'different places of one file',
    clean: true,
    make: async () =>
      branchBoth({ a: text(1, 30) }, { a: `first\n${text(1, 30)}` }, { a: `${text(1, 30)}last\n` }),
  },
  {
    name: 'the same line',
    clean: false,
    conflicts: ['a'],
    make: async () => branchBoth({ a: 'a\n' }, { a: 'b\n' }, { a: 'c\n' }),
  },
  {
    name: 'a file renamed here and edited there',
    clean: true,
    make: async () =>
      branchBoth({ a: text(1, 50) }, { a: null, 'd/e': text(1, 50) }, { a: `${text(1, 50)}x\n` }),
  },
  {
    name: 'a folder renamed here, a new file in it there',
    clean: false,
    conflicts: ['new/c'],
    make: async () =>
      branchBoth(
        { 'old/a': text(1, 20), 'old/b': text(40, 60) },
        { 'old/a': null, 'old/b': null, 'new/a': text(1, 20), 'new/b': text(40, 60) },
        { 'old/c': 'c\n' },
      ),
  },
  {
    name: 'a folder split in two here, a new file in it there (a conflict without a file)',
    clean: false,
    make: async () =>
      branchBoth(
        { 'old/a': text(1, 20), 'old/b': text(40, 60) },
        { 'old/a': null, 'old/b': null, 'new/a': text(1, 20), 'other/b': text(40, 60) },
        { 'old/c': 'c\n' },
      ),
  },
  {
    name: 'deleted here and edited there',
    clean: false,
    conflicts: ['a'],
    make: async () => branchBoth({ a: text(1, 9), k: 'k' }, { a: null }, { a: text(2, 9) }),
  },
  {
    name: 'a binary file changed on one side',
    clean: true,
    make: async () => branchBoth({ a: binary(1) }, { a: binary(2) }, { b: 'b\n' }),
  },
  {
    name: 'a binary file changed on both sides',
    clean: false,
    conflicts: ['a'],
    make: async () => branchBoth({ a: binary(1) }, { a: binary(2) }, { a: binary(3) }),
  },
  {
    name: 'a file here where there is a folder there',
    clean: false,
    make: async () => branchBoth({ k: 'k\n' }, { x: 'file\n' }, { 'x/y': 'in a folder\n' }),
  },
  {
    name: 'names of all kinds',
    clean: true,
    make: async () =>
      branchBoth(
        { a: 'a\n' },
        { '-rf': '1\n', 'é ☃': '2\n', '"q"': '3\n' },
        { '--output=x': '4\n', 'a\tb': '5\n' },
      ),
  },
  {
    name: 'the same change on both sides',
    clean: true,
    make: async () => branchBoth({ a: 'a\n' }, { a: 'b\n' }, { a: 'b\n' }),
  },
];

for (const { name, clean, conflicts, make } of cases)
  test(`merging ${name} gives what git merge gives`, async () => {
    await make();
    await take();
    const wanted = await mergeByGit();
    const [ours, theirs] = [
      await repository.git('rev-parse', 'ours'),
      await repository.git('rev-parse', 'theirs'),
    ];
    const before = await countObjects();
    const check = await repository.ask('merge.check', { ours, theirs });
    assert.equal(check.clean, clean);
    if (conflicts !== undefined) assert.deepEqual(check.conflicts, conflicts);
    if (clean) assert.deepEqual(check.conflicts, []);
    assert.equal(await countObjects(), before, 'a check leaves no objects');
    const merged = await repository.ask('merge.commit', { ours, theirs, message: 'Merge it', ...by });
    assert.equal(merged === null ? null : await treeOf(merged.id), wanted);
    if (merged === null) assert.equal(await countObjects(), before, 'a conflict leaves no objects');
    else {
      const again = await repository.ask('merge.commit', { ours, theirs, message: 'Merge it', ...by });
      assert.equal(again?.id, merged.id, 'the same input makes the same commit');
      assert.equal(await repository.git('rev-parse', `${merged.id}^1`), ours);
      assert.equal(await repository.git('rev-parse', `${merged.id}^2`), theirs);
      const shown = await repository.git('show', '-s', '--format=%an %ae %at|%cn %ct %B', merged.id);
      assert.equal(shown, 'Ada ada@example.com 1600000000|Bob 1600000009 Merge it');
    }
    assert.equal(await repository.git('rev-parse', 'ours'), ours, 'no ref moved');
  });

test('modes and symbolic links are merged', async () => {
  await commit('base', { run: '#!/bin/sh\n', other: 'x\n' });
  await tree.git('branch', 'theirs');
  await tree.git('checkout', '--quiet', '-b', 'ours');
  await chmod(join(tree.path, 'run'), 0o755);
  await commit('ours', {});
  await tree.git('checkout', '--quiet', 'theirs');
  await symlink('run', join(tree.path, 'link'));
  await rename(join(tree.path, 'other'), join(tree.path, 'another'));
  await commit('theirs', {});
  await take();
  const wanted = await mergeByGit();
  const [ours, theirs] = [
    await repository.git('rev-parse', 'ours'),
    await repository.git('rev-parse', 'theirs'),
  ];
  const merged = await repository.ask('merge.commit', { ours, theirs, message: 'm', ...by });
  assert.equal(await treeOf(merged!.id), wanted);
});

test('a criss-cross history merges as git merges it', async () => {
  await commit('base', { a: text(1, 40) });
  await tree.git('branch', 'theirs');
  await tree.git('checkout', '--quiet', '-b', 'ours');
  const left = await commit('left', { a: `left\n${text(1, 40)}` });
  await tree.git('checkout', '--quiet', 'theirs');
  const right = await commit('right', { a: `${text(1, 40)}right\n` });
  await tree.git('merge', '--quiet', '-m', 'x1', left);
  await tree.git('checkout', '--quiet', 'ours');
  await tree.git('merge', '--quiet', '-m', 'x2', right);
  await commit('more left', { a: `left\n${text(1, 19)}twenty\n${text(21, 40)}right\n` });
  await tree.git('checkout', '--quiet', 'theirs');
  await commit('more right', { b: 'b\n' });
  await take();
  const bases = await repository.git('merge-base', '--all', 'ours', 'theirs');
  assert.equal(bases.split('\n').length, 2, 'there are two bases');
  const wanted = await mergeByGit();
  const [ours, theirs] = [
    await repository.git('rev-parse', 'ours'),
    await repository.git('rev-parse', 'theirs'),
  ];
  const merged = await repository.ask('merge.commit', { ours, theirs, message: 'm', ...by });
  assert.equal(await treeOf(merged!.id), wanted);
});

test('histories without a common commit merge if their files do not conflict', async () => {
  const ours = await commit('one', { a: 'a\n' });
  await tree.git('checkout', '--quiet', '--orphan', 'other');
  await tree.git('rm', '-rfq', '.');
  const theirs = await commit('two', { b: 'b\n' });
  await take();
  const merged = await repository.ask('merge.commit', { ours, theirs, message: 'm', ...by });
  assert.equal(await repository.git('ls-tree', '--name-only', merged!.id), 'a\nb');
});

test('a missing commit or an object of another type fails before any process starts', async () => {
  const ours = await commit('one', { a: 'a\n' });
  await take();
  const blob = await repository.git('rev-parse', `${ours}:a`);
  const missing = { ours, theirs: '1'.repeat(40) };
  await assert.rejects(repository.ask('merge.check', missing), { kind: 'missing' });
  await assert.rejects(repository.ask('merge.check', { ours, theirs: blob }), { kind: 'invalid' });
  for (const theirs of ['--help', 'HEAD', 'ours', '', `${ours}\n`, ours.toUpperCase()])
    await assert.rejects(repository.ask('merge.check', { ours, theirs }), { kind: 'invalid' });
  const nowhere = storage.repository();
  await assert.rejects(nowhere.ask('merge.check', { ours, theirs: ours }), { kind: 'no_repository' });
});

test('a squash is one commit on the merge base, whichever of base and target is named', async () => {
  const base = await commit('base', { a: 'a\n' });
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('one', { b: 'b\n' });
  const head = await commit('two', { c: 'c\n' });
  await tree.git('checkout', '--quiet', 'main');
  const target = await commit('meanwhile', { d: 'd\n' });
  await take();
  const { id } = await repository.ask('merge.squash', { base, head, message: 'All of it', ...by });
  assert.equal(await repository.git('rev-parse', `${id}^@`), base);
  assert.equal(await treeOf(id), await treeOf(head));
  const other = await repository.ask('merge.squash', { base: target, head, message: 'All of it', ...by });
  assert.equal(other.id, id);
});

test('consecutive checks, clean or conflicting, do not mix up their results', async () => {
  await branchBoth({ a: 'a\n' }, { a: 'b\n', 'x/y': 'y\n' }, { a: 'c\n', x: 'x\n' });
  await tree.git('checkout', '--quiet', '-b', 'third');
  const other = await commit('other', { a: 'a\n', x: null, q: 'q\n' });
  await take();
  const [ours, theirs] = [
    await repository.git('rev-parse', 'ours'),
    await repository.git('rev-parse', 'theirs'),
  ];
  const clean = await repository.ask('merge.check', { ours: theirs, theirs: other });
  assert.deepEqual(clean, { clean: true, conflicts: [] });
  const rows = Array.from({ length: 250 }, async (_, index) => {
    const isClean = index % 3 === 0;
    const sides = isClean ? { ours: theirs, theirs: other } : { ours, theirs };
    const answer = await repository.ask('merge.check', sides);
    assert.equal(answer.clean, isClean);
    if (!isClean) assert.ok(answer.conflicts.includes('a') && answer.conflicts.length > 1);
  });
  await Promise.all(rows);
});

test('a check succeeds although its process is killed', async () => {
  await branchBoth({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
  await take();
  const [ours, theirs] = [
    await repository.git('rev-parse', 'ours'),
    await repository.git('rev-parse', 'theirs'),
  ];
  for (let turn = 0; turn < 5; turn += 1) {
    const check = repository.ask('merge.check', { ours, theirs });
    for (const pid of await processesOf('merge-tree')) process.kill(pid, 'SIGKILL');
    assert.deepEqual(await check, { clean: true, conflicts: [] });
  }
});

test('thirty concurrent merges all succeed', async () => {
  await branchBoth({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
  await take();
  const [ours, theirs] = [
    await repository.git('rev-parse', 'ours'),
    await repository.git('rev-parse', 'theirs'),
  ];
  const numbers = Array.from({ length: 30 }, (_, index) => index);
  const merged = await Promise.all(
    numbers.map(
      async (n) => await repository.ask('merge.commit', { ours, theirs, message: `m ${n}`, ...by }),
    ),
  );
  assert.equal(new Set(merged.map((one) => one?.id)).size, 30);
  for (const one of merged) await repository.git('update-ref', `refs/keep-around/${one!.id}`, one!.id);
});
