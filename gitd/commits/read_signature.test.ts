import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { useStorage } from '../../test/support/repositories/repository_storage.ts';

const test = useStorage();

it('objects that are too large have no signature, and the process that reads others goes on', async () => {
  const { commitAll, ask, askBody, dir, context } = test.repository();
  const [commit = ''] = await commitAll({ a: '1' });
  const write = (kind: string, text: string): string =>
    execFileSync('git', [`--git-dir=${dir}`, 'hash-object', '-t', kind, '-w', '--stdin'], {
      input: text,
      env: gitEnvironment(),
    })
      .toString()
      .trim();
  const person = 'A <a@b> 1500000000 +0100';
  const signature = '-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----\n';
  const head = `object ${commit}\ntype commit\ntag a\ntagger ${person}\n\n`;
  const small = write('tag', `${head}text\n${signature}`);
  const large = write('tag', `${head}${'text\n'.repeat(400_000)}${signature}`);
  const tree = execFileSync('git', [`--git-dir=${dir}`, 'rev-parse', `${commit}^{tree}`], {
    env: gitEnvironment(),
  });
  const largeCommit = write(
    'commit',
    `tree ${tree.toString().trim()}\nauthor ${person}\ncommitter ${person}\ngpgsig x\n\n${'text\n'.repeat(400_000)}`,
  );
  const answers = await Promise.all([
    ask('tags.signature', { id: large }),
    ask('commits.signature', { id: largeCommit }),
    ask('tags.signature', { id: small }),
    ask('tags.signature', { id: commit }),
    context.pools.catFile.info(dir, commit).then((info) => info?.type),
  ]);
  assert.deepEqual(answers, [null, null, { signature }, null, 'commit']);
  assert.equal((await askBody('tags.signature', { id: small })).toString(), `${head}text\n`);
  await assert.rejects(ask('tags.signature', { id: 'a'.repeat(40) }), { kind: 'missing' });
  await assert.rejects(ask('commits.signature', { id: small }), { kind: 'invalid' });
});
