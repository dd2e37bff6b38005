import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
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
  const left = (await readdir(join(repository.dir, 'objects'))).filter((name) => name.startsWith('tmp'));
  assert.deepEqual(left, [], 'no quarantine is left');
  await tree.remove();
});

const ada: Signature = { name: 'Ada', email: 'ada@example.com', time: 1_600_000_000, offset: '+0000' };
const bob: Signature = { name: 'Bob', email: 'bob@example.com', time: 1_600_000_009, offset: '-0300' };
const by = { author: ada, committer: bob };
const message = 'Picked';

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
const parentsOf = async (id: string): Promise<string> =>
  await repository.git('show', '-s', '--format=%P', id);
const text = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
const countObjects = async (): Promise<string> => await repository.git('count-objects', '-v');

/** Returns the tree after `git <args>` on a commit; null if git fails. */
const byGit = async (on: string, ...args: string[]): Promise<string | null> => {
  await tree.git('checkout', '--quiet', '--detach', on);
  const { code } = await tryGit(tree.path, args);
  return code === 0 ? await tree.git('rev-parse', 'HEAD^{tree}') : null;
};

/** `main` with a change to cherry-pick on `topic`, renamed here. */
const makeTopic = async (): Promise<{ onto: string; picked: string }> => {
  await commit('base', { a: text(1, 60), k: 'k\n' });
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('not this', { n: 'n\n' });
  const picked = await commit('this', { a: `${text(1, 60)}end\n`, 'new/file': 'new\n' });
  await commit('nor this', { a: `begin\n${text(1, 60)}end\n` });
  await tree.git('checkout', '--quiet', 'main');
  const onto = await commit('renamed', { a: null, b: text(1, 60) });
  await take();
  return { onto, picked };
};

test('a cherry-pick gives the same tree as git, follows a rename and adds no other change', async () => {
  const { onto, picked } = await makeTopic();
  const wanted = await byGit(onto, 'cherry-pick', picked);
  const result = await repository.ask('commit.cherry_pick', { commit: picked, onto, message, ...by });
  assert.ok(typeof result === 'object');
  assert.equal(await treeOf(result.id), wanted);
  assert.equal(await parentsOf(result.id), onto);
  const again = await repository.ask('commit.cherry_pick', { commit: picked, onto, message, ...by });
  assert.deepEqual(again, result, 'the same input makes the same commit');
  const kinds = await repository.git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype)');
  const commits = kinds.split('\n').filter((kind) => kind === 'commit').length;
  assert.equal(commits, 6, 'the helping commits are gone');
});

test('a cherry-pick reports conflicts and empty changes, and leaves no objects', async () => {
  const base = await commit('base', { a: 'a\n' });
  const picked = await commit('b', { a: 'b\n' });
  await tree.git('checkout', '--quiet', '-b', 'other', base);
  const onto = await commit('c', { a: 'c\n' });
  const same = await commit('b elsewhere', { a: 'b\n', x: 'x\n' });
  await take();
  const before = await countObjects();
  assert.equal(
    await repository.ask('commit.cherry_pick', { commit: picked, onto, message, ...by }),
    'conflict',
  );
  assert.equal(
    await repository.ask('commit.cherry_pick', { commit: picked, onto: same, message, ...by }),
    'empty',
  );
  assert.equal(await countObjects(), before);
});

test('the first commit of a history can be cherry-picked and reverted', async () => {
  const root = await commit('root', { a: 'a\n' });
  const next = await commit('next', { b: 'b\n' });
  await tree.git('checkout', '--quiet', '--orphan', 'other');
  await tree.git('rm', '-rfq', '.');
  const onto = await commit('two', { c: 'c\n' });
  await take();
  const picked = await repository.ask('commit.cherry_pick', { commit: root, onto, message, ...by });
  assert.ok(typeof picked === 'object');
  assert.equal(await repository.git('ls-tree', '--name-only', picked.id), 'a\nc');
  const back = await repository.ask('commit.revert', { commit: root, onto: next, message, ...by });
  assert.ok(typeof back === 'object');
  assert.equal(await repository.git('ls-tree', '--name-only', back.id), 'b');
  const all = await repository.ask('commit.revert', { commit: root, onto: root, message, ...by });
  assert.ok(typeof all === 'object');
  assert.equal(await repository.git('ls-tree', all.id), '');
});

test('a merge is cherry-picked and reverted as its changes against the first parent', async () => {
  await commit('base', { a: 'a\n' });
  await tree.git('branch', 'release');
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('one', { b: 'b\n' });
  await commit('two', { c: 'c\n' });
  await tree.git('checkout', '--quiet', 'main');
  const before = await commit('meanwhile', { d: 'd\n' });
  await tree.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'topic');
  const merge = await tree.git('rev-parse', 'HEAD');
  await tree.git('checkout', '--quiet', 'release');
  const onto = await commit('on release', { e: 'e\n' });
  await take();
  const picked = await repository.ask('commit.cherry_pick', { commit: merge, onto, message, ...by });
  assert.ok(typeof picked === 'object');
  assert.equal(await treeOf(picked.id), await byGit(onto, 'cherry-pick', '-m', '1', merge));
  const reverted = await repository.ask('commit.revert', { commit: merge, onto: merge, message, ...by });
  assert.ok(typeof reverted === 'object');
  assert.equal(await treeOf(reverted.id), await treeOf(before));
});

test('a revert gives the same tree as git; reverting a change that is already gone is empty', async () => {
  await commit('base', { a: text(1, 40) });
  const bad = await commit('bad', { a: `bad\n${text(1, 40)}`, gone: 'x\n' });
  const onto = await commit('more', { a: `bad\n${text(1, 40)}more\n` });
  const clash = await commit('clash', { a: `worse\n${text(1, 40)}more\n` });
  await take();
  const reverted = await repository.ask('commit.revert', { commit: bad, onto, message, ...by });
  assert.ok(typeof reverted === 'object');
  assert.equal(await treeOf(reverted.id), await byGit(onto, 'revert', '--no-edit', bad));
  const twice = await repository.ask('commit.revert', { commit: bad, onto: reverted.id, message, ...by });
  assert.equal(twice, 'empty');
  assert.equal(await byGit(clash, 'revert', '--no-edit', bad), null);
  assert.equal(
    await repository.ask('commit.revert', { commit: bad, onto: clash, message, ...by }),
    'conflict',
  );
});

/** Lists trees, messages and authors of the commits, newest first. */
const story = async (where: TestRepository | WorkTree, from: string, to: string): Promise<string> =>
  await where.git('log', '--format=%T %an <%ae> %at %s%n%b', `${from}..${to}`);

const rebaseByGit = async (onto: string, head: string): Promise<string | null> => {
  await tree.git('checkout', '--quiet', '--detach', head);
  const { code } = await tryGit(tree.path, ['rebase', '--quiet', onto]);
  return code === 0 ? await tree.git('rev-parse', 'HEAD') : null;
};

test('a rebase applies each commit to the target, as git rebase does', async () => {
  await commit('base', { a: text(1, 60), k: 'k\n' });
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('one\n\nwith a  body \n\n\nof lines', { a: `${text(1, 60)}end\n` });
  await commit('same as there', { s: 's\n' });
  await commit('a file\n\n# with a mark', { 'd/e': 'e\n' });
  const head = await commit('renamed', { 'd/e': null, f: 'e\n' });
  await tree.git('checkout', '--quiet', 'main');
  await commit('meanwhile', { a: `begin\n${text(1, 60)}` });
  const onto = await commit('the same elsewhere', { s: 's\n' });
  await take();
  const wanted = await rebaseByGit(onto, head);
  const rebased = await repository.ask('merge.rebase', { onto, head, committer: bob });
  assert.equal(await story(repository, onto, rebased!.id), await story(tree, onto, wanted!));
  assert.equal((await story(repository, onto, rebased!.id)).includes('same as there'), false);
  const committers = await repository.git('log', '--format=%cn %ct', `${onto}..${rebased!.id}`);
  assert.deepEqual(new Set(committers.split('\n')), new Set(['Bob 1600000009']));
  const again = await repository.ask('merge.rebase', { onto, head, committer: bob });
  assert.deepEqual(again, rebased);
});

test('a rebase of a branch that is up to date or behind changes nothing', async () => {
  const base = await commit('base', { a: 'a\n' });
  const one = await commit('one', { b: 'b\n' });
  const head = await commit('two', { c: 'c\n' });
  await take();
  const before = await countObjects();
  assert.deepEqual(await repository.ask('merge.rebase', { onto: base, head, committer: bob }), { id: head });
  assert.deepEqual(await repository.ask('merge.rebase', { onto: head, head: one, committer: bob }), {
    id: head,
  });
  assert.deepEqual(await repository.ask('merge.rebase', { onto: head, head, committer: bob }), { id: head });
  assert.equal(await countObjects(), before);
});

test('a rebase omits merges and keeps commits that were empty from the start', async () => {
  await commit('base', { a: 'a\n' });
  await tree.git('branch', 'side');
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('one', { b: 'b\n' });
  await commit('nothing', {});
  await tree.git('checkout', '--quiet', 'side');
  await commit('side', { s: 's\n' });
  await tree.git('checkout', '--quiet', 'topic');
  await tree.git('merge', '--quiet', '--no-ff', '-m', 'merge side', 'side');
  const head = await commit('last', { l: 'l\n' });
  await tree.git('checkout', '--quiet', 'main');
  const onto = await commit('meanwhile', { m: 'm\n' });
  await take();
  const rebased = await repository.ask('merge.rebase', { onto, head, committer: bob });
  const wanted = await rebaseByGit(onto, head);
  assert.equal(await treeOf(rebased!.id), await tree.git('rev-parse', `${wanted}^{tree}`));
  const subjects = await repository.git('log', '--format=%s', `${onto}..${rebased!.id}`);
  assert.deepEqual(subjects.split('\n').toSorted(), ['last', 'nothing', 'one', 'side']);
});

test('a rebase omits a commit that the target had, even if it was reverted there', async () => {
  await commit('base', { a: 'a\n' });
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('same', { s: 's\n' });
  const head = await commit('more', { m: 'm\n' });
  await tree.git('checkout', '--quiet', 'main');
  await commit('same there', { s: 's\n' });
  const onto = await commit('taken back', { s: null });
  await take();
  const rebased = await repository.ask('merge.rebase', { onto, head, committer: bob });
  const wanted = await rebaseByGit(onto, head);
  assert.equal(await treeOf(rebased!.id), await tree.git('rev-parse', `${wanted}^{tree}`));
});

test('a rebase with a conflict in the middle returns null and leaves no objects', async () => {
  await commit('base', { a: 'a\n' });
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await commit('fine', { b: 'b\n' });
  const head = await commit('clash', { a: 'c\n' });
  await tree.git('checkout', '--quiet', 'main');
  const onto = await commit('meanwhile', { a: 'b\n' });
  await take();
  assert.equal(await rebaseByGit(onto, head), null);
  const before = await countObjects();
  assert.equal(await repository.ask('merge.rebase', { onto, head, committer: bob }), null);
  assert.equal(await countObjects(), before);
});
