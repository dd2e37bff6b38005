/** Tests the long-lived git processes, also when one of them dies. */
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, renameSync } from 'node:fs';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';
import { zeroOid } from '../protocol_records.ts';

const test = useStorage();

/** Lists the ids of the git processes that serve a repository. */
const processesOf = (repository: TestRepository, command: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(repository.dir) && line.split('\0').includes(command);
      } catch {
        return false;
      }
    })
    .map(Number);

const main = { names: ['refs/heads/main'] };

it('serves many requests with few processes', async () => {
  const repository = test.repository();
  const [id] = await repository.commitAll({ a: '1' });
  const answers = await Promise.all(
    Array.from({ length: 500 }, async () => await repository.ask('refs.get', main)),
  );
  assert.ok(answers.every(({ refs }) => refs[0]?.commit === id));
  const many = processesOf(repository, 'cat-file').length;
  assert.ok(many >= 1 && many <= 4, String(many));
});

it('recovers when a process was killed', async () => {
  const repository = test.repository();
  const [id] = await repository.commitAll({ a: '1' });
  const { ask } = repository;
  await ask('refs.get', main);
  for (const pid of processesOf(repository, 'cat-file')) process.kill(pid, 'SIGKILL');
  const answers = await Promise.all(Array.from({ length: 20 }, async () => await ask('refs.get', main)));
  assert.ok(answers.every(({ refs }) => refs[0]?.commit === id));
  await ask('refs.update', { updates: [{ ref: 'refs/heads/a', old: null, new: id! }] });
  for (const pid of processesOf(repository, 'update-ref')) process.kill(pid, 'SIGKILL');
  await new Promise((done) => setTimeout(done, 50));
  await ask('refs.update', { updates: [{ ref: 'refs/heads/b', old: null, new: id! }] });
});

it('compares trees by another process if one was killed before it answered', async () => {
  const repository = test.repository();
  await repository.commitAll({ a: '1' }, { a: '2' });
  const { dir, context, git } = repository;
  const trees = await Promise.all(
    ['main~1', 'main'].map(async (name) => (await git('rev-parse', `${name}^{tree}`)).trim()),
  );
  const compare = async (): Promise<string> => {
    const chunks: Buffer[] = [];
    const request = { dir, trees: trees as [string, string], signal: context.signal, seconds: 20 };
    await context.pools.diffTree.run(request, (chunk) => void chunks.push(chunk) as never);
    return Buffer.concat(chunks).toString();
  };
  const answer = await compare();
  const [pid = 0, ...others] = processesOf(repository, 'diff-tree');
  assert.deepEqual([others, answer.includes('+2')], [[], true]);
  // It is sent the request, and ends before it reads that.
  process.kill(pid, 'SIGSTOP');
  const asked = compare();
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => void setImmediate(done));
  process.kill(pid, 'SIGKILL');
  assert.equal(await asked, answer);
});

it('reports a comparison whose process was killed within its answer as a passing problem', async () => {
  const repository = test.repository();
  const large = randomBytes(2_000_000).toString('base64').replaceAll(/.{60}/g, '$&\n');
  await repository.commitAll({ large }, { small: '1' });
  const { dir, context, git } = repository;
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const tree = (await git('rev-parse', 'main^{tree}')).trim();
  const kill = (): false => {
    for (const pid of processesOf(repository, 'diff-tree')) process.kill(pid, 'SIGKILL');
    return false;
  };
  const request = { dir, trees: [empty, tree] as [string, string], signal: context.signal, seconds: 20 };
  await assert.rejects(context.pools.diffTree.run(request, kill), { kind: 'unavailable' });
});

it('reports a repository that was moved away while its processes run', async () => {
  const { dir, commitAll, context } = test.repository();
  await commitAll({ a: '1' });
  const { catFile } = context.pools;
  assert.equal((await catFile.info(dir, 'refs/heads/main'))?.type, 'commit');
  assert.equal(await catFile.info(dir, 'refs/heads/none'), null);
  renameSync(dir, `${dir}.away`);
  await assert.rejects(catFile.info(dir, 'refs/heads/main'), { kind: 'no_repository' });
  renameSync(`${dir}.away`, dir);
});

it('sees new refs, packed refs, deletions and repacked objects without a restart', async () => {
  const { commitAll, ask, git } = test.repository();
  const ids = await commitAll({ a: '1' }, { b: '2' }, { c: '3' });
  const target = async (name: string): Promise<string | null> =>
    (await ask('refs.get', { names: [name] })).refs[0]?.target ?? null;
  assert.equal(await target('refs/heads/other'), null);
  await git('update-ref', 'refs/heads/other', ids[0]!);
  assert.equal(await target('refs/heads/other'), ids[0]);
  await git('pack-refs', '--all');
  assert.equal(await target('refs/heads/other'), ids[0]);
  await git('update-ref', '-d', 'refs/heads/other');
  assert.equal(await target('refs/heads/other'), null);
  await git('repack', '-adfq');
  const { commits } = await ask('commits.get', { ids });
  assert.deepEqual(
    commits.map((commit) => commit?.id),
    ids,
  );
});

it('aborts a read that is too large, and serves the others', async () => {
  const { commitAll, context, ask } = test.repository();
  await commitAll({ large: randomBytes(200_000).toString('hex'), small: 'x' });
  const { commit } = (await ask('revision.resolve', { revision: 'main' }))!;
  const large = (await ask('blob.at', { commit, path: 'large', max: 10 }))!;
  assert.deepEqual({ size: large.size, whole: large.whole }, { size: 400_000, whole: false });
  const { contents } = context.pools.catFile;
  const asked = [contents(context.dir, large.id, 10), ask('blob.at', { commit, path: 'small', max: 10 })];
  const [refused, answered] = await Promise.allSettled(asked);
  assert.equal(refused?.status, 'rejected');
  assert.equal(answered?.status, 'fulfilled');
});

it('refuses names that cat-file would read as an expression', async () => {
  const { commitAll, context } = test.repository();
  const [id] = await commitAll({ a: '1' });
  for (const name of [
    ':/commit',
    'main',
    `${id}:a`,
    `${id}^{/x}`,
    'refs/heads/main:./x',
    'refs/heads/main^{tree}',
    '',
    `${id}\n`,
  ])
    await assert.rejects(context.pools.catFile.info(context.dir, name), { kind: 'invalid' }, name);
});

it('lets exactly one of many concurrent updates of a ref succeed', async () => {
  const { commitAll, ask } = test.repository();
  const [first, second] = await commitAll({ a: '1' }, { a: '2' });
  await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: zeroOid, new: first! }] });
  const change = { ref: 'refs/heads/x', old: first!, new: second! };
  const all = await Promise.allSettled(
    Array.from({ length: 20 }, async () => await ask('refs.update', { updates: [change] })),
  );
  const lost = all.filter((one) => one.status === 'rejected');
  assert.equal(lost.length, 19);
  for (const { reason } of lost) assert.equal((reason as { kind: string }).kind, 'conflict', String(reason));
});

it('changes all refs of a request or none', async () => {
  const { commitAll, ask } = test.repository();
  const [first, second] = await commitAll({ a: '1' }, { a: '2' });
  const updates = [
    { ref: 'refs/heads/x', old: null, new: first! },
    { ref: 'refs/heads/y', old: zeroOid, new: first! },
    { ref: 'refs/heads/main', old: first!, new: second! },
  ];
  await assert.rejects(ask('refs.update', { updates }), { kind: 'conflict' });
  const { refs } = await ask('refs.get', { names: ['refs/heads/x', 'refs/heads/y', 'refs/heads/main'] });
  assert.deepEqual(
    refs.map((one) => one?.target ?? null),
    [null, null, second],
  );
});

it('reports why a ref cannot be changed', async () => {
  const { commitAll, ask, git } = test.repository();
  const [id] = await commitAll({ a: '1' });
  const blob = await git('rev-parse', 'main:a');
  const update = async (ref: string, value: string, old: string | null = zeroOid) =>
    await ask('refs.update', { updates: [{ ref, old, new: value }] });
  await update('refs/heads/a', id!);
  await assert.rejects(update('refs/heads/a', id!), { kind: 'conflict' }, 'it exists');
  await assert.rejects(update('refs/heads/a/b', id!), { kind: 'conflict' }, 'a file where a folder must be');
  await assert.rejects(update('refs/heads/none', zeroOid, id), { kind: 'conflict' }, 'it is not there');
  await assert.rejects(update('refs/heads/b', 'b'.repeat(40)), { kind: 'missing' });
  await assert.rejects(update('refs/heads/b', blob), { kind: 'missing' }, 'no commit');
  await assert.rejects(update('refs/heads/-b', id!), { kind: 'invalid' });
  await assert.rejects(update('refs/heads/b..c', id!), { kind: 'invalid' });
  await update('refs/heads/a', zeroOid, null);
  await update('refs/heads/a/b', id!);
});
