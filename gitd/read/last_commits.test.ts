import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';

const test = useStorage();

const milliseconds = 20_000;
const person = { name: 'Ada', email: 'ada@example.com', time: 1_500_000_000, offset: '+0000' };

/** Commits one change of these files. */
const commitFiles = async (
  { ask }: TestRepository,
  parent: string | null,
  files: Record<string, string>,
): Promise<string> => {
  const parts = Object.values(files).map((text) => Buffer.from(text));
  let offset = 0;
  const existing =
    parent === null
      ? null
      : await ask('tree.list', { commit: parent, path: '', recursive: true, offset, limit: 100 });
  const actions = Object.keys(files).map((file_path, at) => {
    const content = { offset, length: parts[at]?.length ?? 0 };
    offset += content.length;
    const isNew = existing?.entries.every(({ path }) => path !== file_path) ?? true;
    return { action: isNew ? ('create' as const) : ('update' as const), file_path, content };
  });
  const commit = { parent, actions, message: 'x', author: person, committer: person };
  const made = await ask('commit.actions', commit, Buffer.concat(parts));
  if (!('id' in made)) throw new Error(made.problem);
  return made.id;
};

it('finds the last commit of files and folders', async () => {
  const repository = test.repository();
  const { ask } = repository;
  await ask('repository.create', {});
  const one = await commitFiles(repository, null, { a: '1', 'd/x': '1', 'd/e/y': '1' });
  const two = await commitFiles(repository, one, { a: '2', b: '1' });
  const three = await commitFiles(repository, two, { 'd/e/y': '2' });
  const root = { commit: three, path: '', names: ['d', 'a', 'b', 'none'], milliseconds };
  const { ids, commits, isFinished } = await ask('tree.last_commits', root);
  assert.deepEqual([ids, isFinished], [[three, two, two, null], true]);
  assert.deepEqual(commits.map(({ id }) => id).toSorted(), [two, three].toSorted());
  const below = await ask('tree.last_commits', { ...root, path: 'd', names: ['x', 'e'] });
  assert.deepEqual(below.ids, [one, three]);
  for (const [name, id] of [
    ['b', two],
    ['d', one],
  ] as const)
    assert.deepEqual((await ask('tree.last_commits', { ...root, commit: two, names: [name] })).ids, [id]);
});

it('names a merge only for what it changed itself', async () => {
  const repository = test.repository();
  const { ask, git } = repository;
  await ask('repository.create', {});
  const base = await commitFiles(repository, null, { a: '1', b: '1' });
  const main = await commitFiles(repository, base, { a: '2' });
  const side = await commitFiles(repository, base, { b: '2' });
  const clean = await commitFiles(repository, main, { b: '2' });
  const tree = await git('rev-parse', `${clean}^{tree}`);
  const merge = await git('commit-tree', tree, '-p', main, '-p', side, '-m', 'merge');
  const { ids } = await ask('tree.last_commits', {
    commit: merge,
    path: '',
    names: ['a', 'b'],
    milliseconds,
  });
  assert.deepEqual(ids, [main, side]);
});

it('reads names that are not ASCII', async () => {
  const repository = test.repository();
  const { ask } = repository;
  await ask('repository.create', {});
  const one = await commitFiles(repository, null, { 'ü/ä': '1', b: '1' });
  const two = await commitFiles(repository, one, { 'ü/ß': '2' });
  const root = { commit: two, path: '', names: ['ü', 'b'], milliseconds };
  assert.deepEqual((await ask('tree.last_commits', root)).ids, [two, one]);
  const below = { ...root, path: 'ü', names: ['ä', 'ß'] };
  assert.deepEqual((await ask('tree.last_commits', below)).ids, [one, two]);
});
