import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { diffFiles } from '../diff/diff_handlers.ts';
import { streamBlob } from './blobs.ts';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';

const test = useStorage();

/** Runs git with bytes as input. */
const feed = ({ dir }: TestRepository, args: string[], input: Buffer | string, env: object = {}): string =>
  execFileSync('git', [`--git-dir=${dir}`, ...args], { input, env: { ...gitEnvironment(), ...env } })
    .toString()
    .trim();

const writeTree = (
  repository: TestRepository,
  entries: [mode: string, name: string, id: string][],
): string => {
  const parts = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]),
  );
  return feed(
    repository,
    ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
    Buffer.concat(parts),
  );
};

const writeCommit = (repository: TestRepository, tree: string): string =>
  feed(repository, ['commit-tree', tree, '-m', 'x'], '');

it('walks commits in the order of git, and counts them', async () => {
  const { commitAll, ask, git } = test.repository();
  await commitAll({ a: '1' }, { a: '2' }, { b: '1' }, { a: '3' });
  const [base, main] = [await git('rev-parse', 'main~2'), await git('rev-parse', 'main')];
  const tree = await git('rev-parse', 'main^{tree}');
  const side = await git('commit-tree', tree, '-p', base, '-m', 'side');
  const merge = await git('commit-tree', tree, '-p', main, '-p', side, '-m', 'merge');
  await git('update-ref', 'refs/heads/main', merge);
  const logged = async (...args: string[]): Promise<string[]> =>
    (await git('rev-list', ...args)).split('\n').filter((line) => line !== '');
  const walk = async (params: object) => {
    const { commits, total } = await ask('commits.list', {
      from: [merge],
      skip: 0,
      limit: 50,
      count: true,
      ...params,
    });
    return { ids: commits.map(({ id }) => id), total };
  };
  assert.deepEqual(await walk({}), { ids: await logged('main'), total: 6 });
  assert.deepEqual(await walk({ first_parent: true }), {
    ids: await logged('--first-parent', 'main'),
    total: 5,
  });
  assert.deepEqual(await walk({ skip: 1, limit: 2 }), { ids: (await logged('main')).slice(1, 3), total: 6 });
  assert.deepEqual(await walk({ path: 'a' }), { ids: await logged('main', '--', 'a'), total: 3 });
  assert.deepEqual(await walk({ not: [base] }), { ids: await logged('main', `^${base}`), total: 4 });
  assert.deepEqual(await walk({ order: 'topo' }), { ids: await logged('--topo-order', 'main'), total: 6 });
  assert.deepEqual(await walk({ author: 'ada@example' }), { ids: await logged('main'), total: 6 });
  assert.deepEqual(await walk({ author: 'nobody' }), { ids: [], total: 0 });
  assert.deepEqual((await walk({ until: 1 })).ids, []);
  assert.equal((await walk({ since: 1 })).total, 6);
  assert.deepEqual(await walk({ from: [] }), { ids: [], total: 0 });
  await assert.rejects(walk({ from: ['a'.repeat(40)] }), { kind: 'missing' });
  await assert.rejects(walk({ from: ['a'.repeat(40)], path: 'a' }), { kind: 'missing' });
  await assert.rejects(walk({ from: ['--all'] }), { kind: 'invalid' });
});

it('reports how commits are related', async () => {
  const { commitAll, ask, git } = test.repository();
  const [first, second] = (await commitAll({ a: '1' }, { a: '2' })) as [string, string];
  const tree = await git('rev-parse', `${first}^{tree}`);
  const side = await git('commit-tree', tree, '-p', first, '-m', 'side');
  const alone = await git('commit-tree', tree, '-m', 'alone');
  assert.deepEqual(await ask('commits.merge_base', { ids: [second, side] }), { id: first });
  assert.deepEqual(await ask('commits.merge_base', { ids: [second, alone] }), { id: null });
  assert.deepEqual(await ask('commits.merge_base', { ids: [second, second] }), { id: second });
  await assert.rejects(ask('commits.merge_base', { ids: [second, 'a'.repeat(40)] }), { kind: 'missing' });
  assert.deepEqual(await ask('commits.is_ancestor', { ancestor: first, descendant: second }), { is: true });
  assert.deepEqual(await ask('commits.is_ancestor', { ancestor: second, descendant: first }), { is: false });
  assert.deepEqual(await ask('commits.is_ancestor', { ancestor: second, descendant: second }), { is: true });
  const ids = [first, second, side, alone, 'a'.repeat(40)];
  assert.deepEqual(await ask('commits.merged', { into: second, ids }), {
    merged: [true, true, false, false, false],
  });
});

it('reads commits in any encoding', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  const tree = await repository.git('rev-parse', 'main^{tree}');
  const write = (head: string, message: Buffer): string =>
    feed(
      repository,
      ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'],
      Buffer.concat([Buffer.from(`tree ${tree}\n${head}\n\n`, 'latin1'), message]),
    );
  const person = 'A <a@b> 1500000000 +0100';
  const latin = write(
    `author M\xfcller <m@b> 1 +0000\ncommitter ${person}\nencoding ISO-8859-1`,
    Buffer.from('\xe4\n', 'latin1'),
  );
  const unlabelled = write(`author ${person}\ncommitter ${person}`, Buffer.from('\xe4\n', 'latin1'));
  const signed = write(
    `author ${person}\ncommitter ${person}\ngpgsig -----BEGIN\n tree x\n author y\n -----END`,
    Buffer.from('ok'),
  );
  const broken = write('author nobody\ncommitter', Buffer.from(''));
  const blob = await repository.git('rev-parse', 'main:a');
  const { commits } = await repository.ask('commits.get', {
    ids: [latin, unlabelled, signed, broken, blob, 'b'.repeat(40)],
  });
  assert.equal(commits[0]?.author.name, 'Müller');
  assert.equal(commits[0]?.message, 'ä\n');
  assert.equal(commits[1]?.message, 'ä\n');
  assert.deepEqual(commits[2]?.author, { name: 'A', email: 'a@b', time: 1_500_000_000, offset: '+0100' });
  assert.equal(commits[2]?.tree, tree);
  assert.equal(commits[3]?.author.name, 'nobody');
  assert.deepEqual(commits.slice(4), [null, null]);
});

it('lists folders: trees, then files, then submodules; in pages', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  const blob = await repository.git('rev-parse', 'main:a');
  const inner = writeTree(repository, [['100644', 'file', blob]]);
  const tree = writeTree(repository, [
    ['100755', 'a', blob],
    ['160000', 'b', 'c'.repeat(40)],
    ['120000', 'c', blob],
    ['40000', 'd', inner],
  ]);
  const commit = writeCommit(repository, tree);
  const list = async (path: string, recursive: boolean, offset = 0, limit = 100) => {
    const found = await repository.ask('tree.list', { commit, path, recursive, offset, limit });
    return (
      found && [found.total, ...found.entries.map((one) => `${one.mode} ${one.type} ${one.path} ${one.name}`)]
    );
  };
  const flat = [4, '040000 tree d d', '100755 blob a a', '120000 blob c c', '160000 commit b b'];
  assert.deepEqual(await list('', false), flat);
  assert.deepEqual(await list('', false, 1, 2), [4, flat[2], flat[3]]);
  assert.deepEqual(await list('', true), [5, flat[1], flat[2], flat[3], '100644 blob d/file file', flat[4]]);
  assert.deepEqual(await list('d', false), [1, '100644 blob d/file file']);
  assert.deepEqual(await list('d/', true), [1, '100644 blob d/file file']);
  for (const path of [
    'a',
    'b',
    'c',
    'x',
    'd/x',
    '../x',
    './d',
    'd/..',
    'd/../d',
    'D',
    'd//file',
    '/d',
    '.git',
    'd\0',
  ])
    assert.equal(await list(path, false), null, path);
});

it('reads files by path, up to the requested size', async () => {
  const repository = test.repository();
  await repository.commitAll({ 'a b': 'some text\n' });
  const { commit } = (await repository.ask('revision.resolve', { revision: 'main' }))!;
  const at = async (path: string, max = 100) => await repository.ask('blob.at', { commit, path, max });
  assert.equal((await at('a b'))?.whole, true);
  assert.equal(
    (await repository.askBody('blob.at', { commit, path: 'a b', max: 10 })).toString(),
    'some text\n',
  );
  assert.equal((await at('a b', 9))?.whole, false);
  assert.equal((await repository.askBody('blob.at', { commit, path: 'a b', max: 9 })).length, 0);
  for (const path of ['', 'a', 'a b/', 'a b/c', './a b', '../a b', 'x'])
    assert.equal(await at(path), null, path);
  const { id } = (await at('a b'))!;
  assert.equal((await repository.askBody('blob.get', { id, max: 10 })).toString(), 'some text\n');
  assert.equal(await repository.ask('blob.get', { id: commit, max: 10 }), null);
});

it('follows no path that only a forged tree contains', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  const blob = await repository.git('rev-parse', 'main:a');
  const inner = writeTree(repository, [['100644', 'file', blob]]);
  const forged = ['.', '..'].map((name): [string, string, string] => ['40000', name, inner]);
  const commit = writeCommit(repository, writeTree(repository, forged));
  for (const path of ['./file', '../file'])
    assert.equal(await repository.ask('blob.at', { commit, path, max: 9 }), null, path);
});

it('finds a file whose name is not UTF-8 by its displayed name', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  const blob = await repository.git('rev-parse', 'main:a');
  const commit = writeCommit(repository, writeTree(repository, [['100644', 'M\xfcller', blob]]));
  const { entries } = (await repository.ask('tree.list', {
    commit,
    path: '',
    recursive: false,
    offset: 0,
    limit: 9,
  }))!;
  assert.equal(entries[0]?.name, 'M\uFFFDller');
  assert.equal((await repository.ask('blob.at', { commit, path: entries[0].path, max: 9 }))?.id, blob);
});

it('refuses to list a tree bomb, and still reads a small file in it', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  let id = await repository.git('rev-parse', 'main:a');
  for (let level = 0; level < 8; level += 1) {
    const mode = level === 0 ? '100644' : '40000';
    id = writeTree(
      repository,
      Array.from({ length: 10 }, (_none, index) => [mode, `n${index}`, id]),
    );
  }
  const commit = writeCommit(repository, id);
  const list = async (recursive: boolean) =>
    await repository.ask('tree.list', { commit, path: '', recursive, offset: 0, limit: 100 });
  assert.equal((await list(false))?.total, 10);
  await assert.rejects(list(true), { kind: 'too_large' });
  const limits = { files: 100, lines: 1000, bytes: 10_000, file_bytes: 1000 };
  const context = { ...repository.context, signal: AbortSignal.timeout(300) };
  const params = { repository: repository.name, from: null, to: commit, limits };
  await assert.rejects(diffFiles(params, context, Buffer.alloc(0)));
  assert.equal(
    (await repository.ask('blob.at', { commit, path: 'n1/n2/n3/n4/n5/n6/n7/n8', max: 9 }))?.size,
    1,
  );
});

it('reports the size of a huge file and streams it without buffering', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' });
  const size = 300 * 2 ** 20;
  const id = execFileSync(
    'sh',
    ['-c', `head -c ${size} /dev/zero | git --git-dir=${repository.dir} hash-object -w --stdin`],
    {
      env: gitEnvironment(),
    },
  )
    .toString()
    .trim();
  const before = process.memoryUsage().rss;
  assert.deepEqual(await repository.ask('blob.get', { id, max: 2 ** 40 }), { size, whole: false });
  const output = createWriteStream('/dev/null');
  const io = {
    input: process.stdin,
    output,
    ask: async () => ({ refuse: null }),
    notify: async () => ({ messages: [] }),
  };
  const result = await streamBlob({ repository: repository.name, id }, repository.context, io);
  assert.equal(result?.size, size);
  assert.equal(output.bytesWritten, size);
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 150 * 2 ** 20, `grew by ${grown}`);
});
