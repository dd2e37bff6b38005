import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { gitEnvironment } from '../../../test/support/repositories/git.ts';
import { useStorage } from '../../../test/support/repositories/repository_storage.ts';

const test = useStorage();

it('counts files whose paths are too many characters to keep, by their paths only', async () => {
  const { commitAll, ask, git, dir } = test.repository();
  const [first] = await commitAll({ 'a.ts': '12345' });
  const blob = await git('rev-parse', `${first}:a.ts`);
  const makeTree = (entries: string[]): string =>
    execFileSync('git', [`--git-dir=${dir}`, 'mktree'], { input: entries.join(''), env: gitEnvironment() })
      .toString()
      .trim();
  // 1,000 paths of 40,000 characters.
  const files = Array.from({ length: 1_000 }, (_, at) => `100644 blob ${blob}\tf${at}.ts\n`);
  let tree = makeTree([...files, `100644 blob ${blob}\tx_generated.ts\n`]);
  for (let level = 0; level < 10; level += 1)
    tree = makeTree([`040000 tree ${tree}\t${'d'.repeat(4_000)}\n`]);
  const commit = await git('commit-tree', tree, '-m', 'deep');
  assert.deepEqual(await ask('tree.languages', { commit }), {
    languages: [{ name: 'TypeScript', bytes: 5_000 }],
  });
});
