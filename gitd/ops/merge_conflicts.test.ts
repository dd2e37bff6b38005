import assert from 'node:assert/strict';
import { readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { WorkTree } from '../../test/support/repositories/git.ts';
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

type Files = Record<string, string | Buffer | null>;

const commit = async (files: Files): Promise<string> => {
  for (const [name, content] of Object.entries(files)) {
    const path = join(tree.path, name);
    await (content === null ? rm(path) : writeFile(path, content));
  }
  return await tree.commit('change', {});
};

const branchBoth = async (
  base: Files,
  ours: Files,
  theirs: Files,
): Promise<[ours: string, theirs: string]> => {
  await commit(base);
  await tree.git('branch', 'theirs');
  await tree.git('checkout', '--quiet', '-b', 'ours');
  const one = await commit(ours);
  await tree.git('checkout', '--quiet', 'theirs');
  const other = await commit(theirs);
  return [one, other];
};

const take = async (): Promise<void> =>
  void (await repository.git('fetch', '--quiet', '--update-head-ok', tree.path, '+refs/*:refs/*'));

const ada: Signature = { name: 'Ada', email: 'ada@example.com', time: 1_600_000_000, offset: '+0000' };
const by = { author: ada, committer: ada, message: 'Resolve\n' };
const limits = { max_files: 3, max_bytes: 1000, max_total: 1500 };

test('lists conflicts with their marked texts, and writes nothing', async () => {
  const [ours, theirs] = await branchBoth(
    { a: 'a\n', bin: 'a\0', gone: 'g\n', same: 's\n' },
    { a: 'b\n', bin: 'b\0', gone: 'h\n' },
    { a: 'c\n', bin: 'c\0', gone: null, same: 't\n' },
  );
  await take();
  const before = await repository.git('count-objects', '-v');
  const listed = await repository.ask('merge.conflicts', { ours, theirs, ...limits });
  assert.deepEqual(
    listed?.files.map(({ path, kind }) => [path, kind]),
    [
      ['a', 'text'],
      ['bin', 'binary'],
      ['gone', 'deleted'],
    ],
  );
  assert.equal(listed.total, 3);
  const body = await repository.askBody('merge.conflicts', { ours, theirs, ...limits });
  assert.equal(body.toString(), `<<<<<<< ${ours}\nb\n=======\nc\n>>>>>>> ${theirs}\n`);
  assert.equal(await repository.git('count-objects', '-v'), before);
  assert.equal(await repository.ask('merge.conflicts', { ours, theirs: ours, ...limits }), null);
});

test('bounds files and bytes, and tells links, types and encodings', async () => {
  await symlink('a', join(tree.path, 'link'));
  await commit({ big: 'x\n', latin: 'x\n', w: 'x\n', x: 'x\n' });
  await tree.git('branch', 'theirs');
  await tree.git('checkout', '--quiet', '-b', 'ours');
  const change = async (word: string): Promise<string> => {
    await unlink(join(tree.path, 'link'));
    await symlink(word, join(tree.path, 'link'));
    const latin = Buffer.from(`${word} \u00e9\n`, 'latin1');
    return await commit({ big: word.repeat(600), latin, w: `${word}\n`, x: `${word}\n` });
  };
  const ours = await change('o');
  await tree.git('checkout', '--quiet', 'theirs');
  const theirs = await change('t');
  await take();
  const listed = await repository.ask('merge.conflicts', { ours, theirs, ...limits });
  assert.deepEqual(
    listed?.files.map(({ path, kind }) => [path, kind]),
    [
      ['big', 'too_large'],
      ['latin', 'encoding'],
      ['link', 'mode'],
    ],
  );
  assert.equal(listed.total, 5);
});

test('commits a merge with the texts of exactly the files that conflict', async () => {
  const [ours, theirs] = await branchBoth(
    { a: 'a\n', b: 'b\n', same: 's\n' },
    { a: 'b\n', b: 'c\n' },
    { a: 'c\n', b: 'd\n', same: 't\n' },
  );
  await take();
  const content = { offset: 0, length: 6 };
  const files = [
    { path: 'a', content },
    { path: 'b', content: { offset: 6, length: 0 } },
  ];
  const body = Buffer.from('mixed\n');
  for (const some of [files.slice(1), [...files, { path: 'same', content }], [...files, ...files]]) {
    assert.equal(await repository.ask('merge.resolve', { ours, theirs, files: some, ...by }, body), null);
  }
  const made = await repository.ask('merge.resolve', { ours, theirs, files, ...by }, body);
  assert.ok(made !== null && 'id' in made);
  assert.equal(
    await repository.git('show', '-s', '--format=%P %an %s', made.id),
    `${ours} ${theirs} Ada Resolve`,
  );
  const texts = await Promise.all(
    ['a', 'b', 'same'].map((name) => repository.git('show', `${made.id}:${name}`)),
  );
  assert.deepEqual(texts, ['mixed', '', 't']);
  await assert.rejects(
    repository.ask(
      'merge.resolve',
      { ours, theirs, files: files.map((one) => ({ ...one, content: { offset: 9, length: 9 } })), ...by },
      body,
    ),
    { kind: 'invalid' },
  );
});

test('refuses a text that git would refuse in a push', async () => {
  const modules = (url: string): string => `[submodule "x"]\n\tpath = x\n\turl = ${url}\n`;
  const [ours, theirs] = await branchBoth(
    { '.gitmodules': modules('https://a.example/') },
    { '.gitmodules': modules('https://b.example/') },
    { '.gitmodules': modules('https://c.example/') },
  );
  await take();
  const bad = Buffer.from(modules('-u./payload'));
  const files = [{ path: '.gitmodules', content: { offset: 0, length: bad.length } }];
  assert.deepEqual(await repository.ask('merge.resolve', { ours, theirs, files, ...by }, bad), {
    problem: 'invalid_path',
    file_path: '.gitmodules',
  });
});
