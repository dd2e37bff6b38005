import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { type TestStorage, startTestStorage } from '../../test/support/repositories/repository_storage.ts';
import { git, gitEnvironment, tryGit } from '../../test/support/repositories/git.ts';
import { zeroOid } from '../protocol_records.ts';

let test: TestStorage;
before(async () => void (test = await startTestStorage()));
after(async () => await test.stop());

const dated = (seconds: number): Record<string, string> =>
  gitEnvironment({ GIT_AUTHOR_DATE: `@${seconds} +0000`, GIT_COMMITTER_DATE: `@${seconds} +0000` });

it('lists refs below a prefix: sorted, searched, paged, with the total', async () => {
  const { commitAll, ask, dir } = test.repository();
  await commitAll({ a: '1' });
  const tree = await git(dir, 'rev-parse', 'main^{tree}');
  for (const [index, name] of ['b/2', 'B-1', 'a'].entries()) {
    const { stdout } = await tryGit(dir, ['commit-tree', tree, '-m', 'x'], dated(1_000_000_000 + index));
    await git(dir, 'update-ref', `refs/heads/${name}`, stdout.trim());
  }
  const list = async (params: object) => {
    const { refs, total } = await ask('refs.list', {
      prefix: 'refs/heads/',
      sort: 'name',
      offset: 0,
      limit: 20,
      ...params,
    });
    return [total, ...refs.map(({ name }) => name.slice('refs/heads/'.length))];
  };
  assert.deepEqual(await list({}), [4, 'B-1', 'a', 'b/2', 'main']);
  assert.deepEqual(await list({ descending: true }), [4, 'main', 'b/2', 'a', 'B-1']);
  assert.deepEqual(await list({ offset: 1, limit: 2 }), [4, 'a', 'b/2']);
  assert.deepEqual(await list({ sort: 'updated' }), [4, 'main', 'a', 'B-1', 'b/2']);
  assert.deepEqual(await list({ sort: 'updated', descending: false }), [4, 'b/2', 'B-1', 'a', 'main']);
  assert.deepEqual(await list({ since: 1_000_000_001 }), [3, 'B-1', 'a', 'main']);
  assert.deepEqual(await list({ before: 1_000_000_001 }), [1, 'b/2']);
  assert.deepEqual(await list({ search: 'B' }), [2, 'B-1', 'b/2']);
  assert.deepEqual(await list({ search: '^b' }), [2, 'B-1', 'b/2']);
  assert.deepEqual(await list({ search: '^a' }), [1, 'a']);
  assert.deepEqual(await list({ search: 'N$' }), [1, 'main']);
  assert.deepEqual(await list({ search: '2' }), [1, 'b/2']);
});

it('lists changes immediately', async () => {
  const { commitAll, ask } = test.repository();
  const [id] = await commitAll({ a: '1' });
  const total = async (): Promise<number> =>
    (await ask('refs.list', { prefix: 'refs/heads/', sort: 'name', offset: 0, limit: 1 })).total;
  assert.equal(await total(), 1);
  await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: zeroOid, new: id! }] });
  assert.equal(await total(), 2);
  await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: id!, new: zeroOid }] });
  assert.equal(await total(), 1);
});

it('returns a tag with its message and commit', async () => {
  const { commitAll, ask, git: run } = test.repository();
  const [id] = await commitAll({ a: '1' });
  await run('tag', 'light', id!);
  await run('tag', '-a', 'heavy', '-m', 'Title\n\nText', id!);
  await run('tag', '-a', 'nested', '-m', 'around', 'heavy');
  await run('tag', 'tree', `${id}^{tree}`);
  const heavy = await run('rev-parse', 'refs/tags/heavy');
  const { refs } = await ask('refs.list', { prefix: 'refs/tags/', sort: 'name', offset: 0, limit: 9 });
  assert.deepEqual(
    refs.map(({ name, commit, message, tagger }) => [name.slice(10), commit, message, tagger?.email]),
    [
      ['heavy', id, 'Title\n\nText\n', 'ada@example.com'],
      ['light', id, null, undefined],
      ['nested', id, 'around\n', 'ada@example.com'],
      ['tree', null, null, undefined],
    ],
  );
  const one = await ask('refs.get', {
    names: ['refs/tags/heavy', 'refs/tags/nothing', 'refs/tags/../x', ''],
  });
  assert.equal(one.refs[0]?.target, heavy);
  assert.deepEqual(one.refs.slice(1), [null, null, null]);
  assert.equal((await ask('revision.resolve', { revision: 'nested' }))?.commit, id);
  assert.equal(await ask('revision.resolve', { revision: 'tree' }), null);
});

it('reads an annotated tag by its id, also when its ref is gone', async () => {
  const { commitAll, ask, git: run } = test.repository();
  const [id] = await commitAll({ a: '1' });
  await run('tag', '-a', 'heavy', '-m', 'Title', id!);
  const heavy = await run('rev-parse', 'refs/tags/heavy');
  await run('tag', '-d', 'heavy');
  const tag = await ask('tags.get', { id: heavy });
  assert.deepEqual([tag?.commit, tag?.message, tag?.tagger?.email], [id, 'Title\n', 'ada@example.com']);
  for (const other of [id!, 'a'.repeat(40)]) assert.equal(await ask('tags.get', { id: other }), null);
  await assert.rejects(ask('tags.get', { id: 'heavy' }), { kind: 'invalid' });
});

it('resolves names and ids of commits, but no git expression', async () => {
  const { commitAll, ask, git: run } = test.repository();
  const [first, second] = await commitAll({ a: '1' }, { a: '2' });
  await run('tag', 'v1', first!);
  await run('branch', 'feature/x', first!);
  await run('branch', first!.slice(0, 8), second!); // a branch wins over a short id
  const resolve = async (revision: string, head: string | null = 'refs/heads/main') =>
    (await ask('revision.resolve', { revision, default_ref: head }))?.commit ?? null;
  assert.equal(await resolve('main'), second);
  assert.equal(await resolve('feature/x'), first);
  assert.equal(await resolve('v1'), first);
  assert.equal(await resolve('refs/tags/v1'), first);
  assert.equal(await resolve('HEAD'), second);
  assert.equal(await resolve('HEAD', null), null);
  assert.equal(await resolve(first!), first);
  assert.equal(await resolve(first!.toUpperCase()), first);
  assert.equal(await resolve(second!.slice(0, 7)), second);
  assert.equal(await resolve(first!.slice(0, 8)), second);
  for (const odd of [
    'main~1',
    'main^',
    'main^{tree}',
    ':/commit',
    'main@{0}',
    '@',
    '',
    'main:a',
    '-x',
    'a b',
    '--all',
    'a'.repeat(40),
    '../x',
    'main\n',
  ])
    assert.equal(await resolve(odd), null, odd);
});

it('does not resolve a missing branch as output of git describe', async () => {
  const { commitAll, ask, git: run } = test.repository();
  const [id] = await commitAll({ a: '1' });
  const name = `x-1-g${id!.slice(0, 10)}`;
  assert.equal(await ask('revision.resolve', { revision: name }), null);
  assert.deepEqual(await ask('refs.get', { names: [`refs/heads/${name}`] }), { refs: [null] });
  await run('branch', name, id!);
  assert.equal((await ask('revision.resolve', { revision: name }))?.commit, id);
});

it('reads a repository without any write as empty', async () => {
  const { ask } = test.repository();
  const list = await ask('refs.list', { prefix: 'refs/heads/', sort: 'name', offset: 0, limit: 9 });
  assert.deepEqual(list, { refs: [], total: 0 });
  assert.deepEqual(await ask('refs.get', { names: ['refs/heads/main'] }), { refs: [null] });
  assert.equal(await ask('revision.resolve', { revision: 'main' }), null);
  assert.deepEqual(await ask('commits.get', { ids: ['a'.repeat(40)] }), { commits: [null] });
  assert.equal(
    await ask('tree.list', { commit: 'a'.repeat(40), path: '', recursive: true, offset: 0, limit: 9 }),
    null,
  );
  assert.equal(await ask('blob.get', { id: 'a'.repeat(40), max: 9 }), null);
  assert.deepEqual(await ask('repository.statistics', {}), { size: 0, empty: true });
  assert.deepEqual(await ask('repository.exists', {}), { exists: false });
  assert.deepEqual(await ask('repository.check', {}), { problems: [] });
});

/** Kills the git processes of a repository at the first effect of this name. */
const killAt = (moment: string, dir: string): void => {
  const kill = (message: unknown): void => {
    if ((message as { effect: string }).effect !== moment) return;
    unsubscribe('gantry:effect', kill);
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`--git-dir=${dir}`))
          process.kill(Number(pid), 'SIGKILL');
      } catch {
        // The process has ended.
      }
    }
  };
  subscribe('gantry:effect', kill);
};

it('completes a change whose process is killed while it holds locks, and leaves no lock', async () => {
  const { ask, commitAll, dir, git: run } = test.repository();
  const [one = '', two = ''] = await commitAll({ a: '1' }, { a: '2' });
  const targetOf = async (names: string[]) =>
    (await ask('refs.get', { names })).refs.map((ref) => ref?.target ?? null);
  const move = async (...updates: { ref: string; old: string; new: string }[]) => {
    killAt('refs.prepared', dir);
    await ask('refs.update', { updates });
    return await targetOf(updates.map(({ ref }) => ref));
  };
  const [main, x, y] = ['refs/heads/main', 'refs/heads/x', 'refs/tags/y'];
  assert.deepEqual(await move({ ref: main, old: two, new: one }), [one], 'the branch of HEAD');
  assert.deepEqual(await move({ ref: x, old: zeroOid, new: one }, { ref: y, old: zeroOid, new: two }), [
    one,
    two,
  ]);
  await run('pack-refs', '--all');
  assert.deepEqual(await move({ ref: x, old: one, new: zeroOid }, { ref: y, old: two, new: one }), [
    null,
    one,
  ]);
  assert.deepEqual(
    readdirSync(dir, { recursive: true }).filter((name) => String(name).endsWith('.lock')),
    [],
  );
});
