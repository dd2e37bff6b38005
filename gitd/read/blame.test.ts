import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { WorkTree } from '../../test/support/repositories/git.ts';
import {
  type TestRepository,
  newRepositoryAndTree,
  useStorage,
} from '../../test/support/repositories/repository_storage.ts';

let repository: TestRepository;
let tree: WorkTree;

const storage = useStorage();
beforeEach(async () => void ({ repository, tree } = await newRepositoryAndTree(storage)));
afterEach(async () => await tree.remove());

const take = async (): Promise<void> =>
  void (await repository.git('fetch', '--quiet', '--update-head-ok', tree.path, '+refs/*:refs/*'));

test('each line has the commit that wrote it, adjacent lines are joined', async () => {
  const one = await tree.commit('one', { f: 'a\nb\nc\nd\n' });
  const two = await tree.commit('two', { f: 'a\nB\nC\nd\ne' });
  await take();
  const answer = await repository.ask('blame.file', { commit: two, path: 'f' });
  assert.deepEqual(answer?.ranges, [
    { lines: [1, 1], commit: one },
    { lines: [2, 3], commit: two },
    { lines: [4, 4], commit: one },
    { lines: [5, 5], commit: two },
  ]);
  assert.deepEqual(answer?.commits.map(({ id }) => id).toSorted(), [one, two].toSorted());
  assert.equal(
    (await repository.askBody('blame.file', { commit: two, path: 'f' })).toString(),
    'a\nB\nC\nd\ne',
  );
  const part = await repository.ask('blame.file', { commit: two, path: 'f', range: [3, 4] });
  assert.deepEqual(part?.ranges, [
    { lines: [3, 3], commit: two },
    { lines: [4, 4], commit: one },
  ]);
});

test('lines of one commit that became adjacent later are one range', async () => {
  const one = await tree.commit('one', { f: 'a\nb\nc\n' });
  const two = await tree.commit('two', { f: 'a\nc\nd\n' });
  await take();
  const answer = await repository.ask('blame.file', { commit: two, path: 'f' });
  assert.deepEqual(answer?.ranges, [
    { lines: [1, 2], commit: one },
    { lines: [3, 3], commit: two },
  ]);
});

test('a commit that changes only white space is passed over', async () => {
  const one = await tree.commit('one', { f: 'a\nb\n' });
  const two = await tree.commit('two', { f: '  a\nB\n' });
  await take();
  const blame = async (ignore_whitespace?: boolean) =>
    (
      await repository.ask('blame.file', {
        commit: two,
        path: 'f',
        ...(ignore_whitespace !== undefined && { ignore_whitespace }),
      })
    )?.ranges;
  assert.deepEqual(await blame(), [{ lines: [1, 2], commit: two }]);
  assert.deepEqual(await blame(true), [
    { lines: [1, 1], commit: one },
    { lines: [2, 2], commit: two },
  ]);
});

test('a range is cut at the end of the file; an empty file has no ranges', async () => {
  const commit = await tree.commit('one', { f: 'a\nb\n', empty: '', '-x': 'x\n', '--contents=f': 'y\n' });
  await take();
  const ranges = async (path: string, range?: [number, number]) =>
    (await repository.ask('blame.file', { commit, path, ...(range && { range }) }))?.ranges;
  assert.deepEqual(await ranges('f', [2, 99]), [{ lines: [2, 2], commit }]);
  assert.deepEqual(await ranges('f', [3, 4]), []);
  assert.deepEqual(await ranges('empty'), []);
  assert.deepEqual(await ranges('-x'), [{ lines: [1, 1], commit }]);
  assert.deepEqual(await ranges('--contents=f'), [{ lines: [1, 1], commit }]);
  for (const range of [
    [0, 1],
    [2, 1],
    [1.5, 2],
    [-1, 1],
  ] as [number, number][])
    await ranges('f', range).then(
      (found) => assert.deepEqual(found, []),
      (error: Error) => assert.equal((error as Error & { kind: string }).kind, 'invalid'),
    );
});

test('a folder, a missing file and an empty repository have no blame', async () => {
  const commit = await tree.commit('one', { f: 'a\n' });
  await take();
  for (const path of ['no', '', '..', 'f/g', '\0'])
    assert.equal(await repository.ask('blame.file', { commit, path }), null);
  await assert.rejects(repository.ask('blame.file', { commit: '1'.repeat(40), path: 'f' }), {
    kind: 'missing',
  });
  assert.equal(await storage.repository().ask('blame.file', { commit, path: 'f' }), null);
});

test('contributors are authors by address, most commits first, without merges', async () => {
  await tree.commit('one', { f: '1\n' });
  await tree.commit('two', { f: '2\n' });
  await tree.git('checkout', '--quiet', '-b', 'side');
  await tree.git('commit', '--quiet', '--allow-empty', '-m', 'x', '--author', 'Bob B <bob@example.com>');
  await tree.git('checkout', '--quiet', 'main');
  await tree.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'side');
  const commit = await tree.git('rev-parse', 'HEAD');
  await take();
  const { contributors } = await repository.ask('contributors.list', { commit });
  const zero = { additions: 0, deletions: 0 };
  assert.deepEqual(contributors, [
    { name: 'Ada Lovelace', email: 'ada@example.com', commits: 2, ...zero },
    { name: 'Bob B', email: 'bob@example.com', commits: 1, ...zero },
  ]);
});

test('the lines of a commit are counted against its first parent, as git counts them', async () => {
  const one = await tree.commit('one', {
    e: 'a\nb',
    f: 'a\nb\nc\n',
    '\n@@ -1,9 +1,9 @@\n': 'odd name\n',
    bin: '\0\x01\n\0',
  });
  const two = await tree.commit('two', {
    e: 'a\nB\nc\n',
    f: 'a\n++ B\n-- C\nno end',
    g: '+\n-\n@@ -1 +1 @@\n',
    bin: '\0\x02',
  });
  await tree.git('checkout', '--quiet', '-b', 'side', one);
  const side = await tree.commit('side', { side: '1\n2\n' });
  await tree.git('checkout', '--quiet', 'main');
  await tree.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'side');
  const merge = await tree.git('rev-parse', 'HEAD');
  const empty = await tree.commit('empty', {});
  await take();
  for (const [id, parent] of [
    [one, '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
    [two, one],
    [side, one],
    [merge, two],
    [empty, merge],
  ] as const) {
    const numbers = await repository.git('diff', '--numstat', parent, id);
    const rows = numbers
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t').map(Number));
    const sum = (column: number): number => rows.reduce((all, row) => all + (row[column] || 0), 0);
    assert.deepEqual(await repository.ask('commits.stats', { id }), { additions: sum(0), deletions: sum(1) });
  }
  await assert.rejects(repository.ask('commits.stats', { id: '1'.repeat(40) }), { kind: 'missing' });
});

test('branches and tags that contain a commit are listed by name', async () => {
  const one = await tree.commit('one', { f: '1\n' });
  await tree.git('branch', 'old');
  await tree.git('tag', '-a', '-m', 't', 'v1');
  const two = await tree.commit('two', { f: '2\n' });
  await take();
  await repository.git('update-ref', 'refs/merge-requests/1/head', two);
  const names = async (id: string, type: 'branch' | 'tag' | 'all'): Promise<string[]> =>
    (await repository.ask('commits.refs', { id, type })).refs.map((ref) => `${ref.type} ${ref.name}`);
  assert.deepEqual(await names(one, 'all'), ['branch main', 'branch old', 'tag v1']);
  assert.deepEqual(await names(one, 'tag'), ['tag v1']);
  assert.deepEqual(await names(two, 'branch'), ['branch main']);
  assert.deepEqual(await names(two, 'tag'), []);
});
