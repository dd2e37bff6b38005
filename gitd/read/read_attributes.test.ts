import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { useStorage } from '../../test/support/repositories/repository_storage.ts';

const test = useStorage();

it('reads the .gitattributes of folders up to a limit, and tells how many folders it read', async () => {
  const { commitAll, ask, git, dir } = test.repository();
  const text = '* linguist-generated\n';
  const [without, withFile] = await commitAll({ x: '1' }, { '.gitattributes': text });
  const plain = await git('rev-parse', `${without}^{tree}`);
  const marked = await git('rev-parse', `${withFile}^{tree}`);
  const folders = Object.entries({ a: marked, b: plain, c: marked, d: marked });
  const tree = execFileSync('git', [`--git-dir=${dir}`, 'mktree'], {
    input: folders.map(([name, id]) => `040000 tree ${id}\t${name}\n`).join(''),
    env: gitEnvironment(),
  });
  const commit = await git('commit-tree', tree.toString().trim(), '-m', 'folders');
  const read = async (max_files: number) => {
    const params = { commit, folders: ['', 'a', 'b', 'c', 'd'], max_files, max_bytes: 1_000 };
    const answer = await ask('tree.attributes', params);
    return [answer.files.map(({ folder }) => folder), answer.read];
  };
  assert.deepEqual(await read(9), [['a', 'c', 'd'], 5]);
  assert.deepEqual(await read(2), [['a', 'c'], 4]);
  assert.deepEqual(await read(1), [['a'], 2]);
});
