import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { git } from '../../test/support/repositories/git.ts';
import { type TestStorage, startTestStorage } from '../../test/support/repositories/repository_storage.ts';
import { zeroOid } from '../protocol_records.ts';
import { countChange, runHousekeeping, packsAllowed } from '../maintenance/housekeeping.ts';
import { tidyStorage } from './janitor.ts';
import { resolveRepositoryPath } from '../disk/storage_paths.ts';
import { removeStaleLocks, noteExclusiveStart } from './stale_locks.ts';
import { findOrphans } from './orphaned_processes.ts';

let test: TestStorage;
before(async () => void (test = await startTestStorage()));
after(async () => await test.stop());

const hour = 3_600_000;

const aged = async (path: string, age: number): Promise<void> => {
  const at = (Date.now() - age) / 1000;
  await utimes(path, at, at);
};

it('accepts only paths that the service creates', () => {
  const good = `@hashed/ab/cd/abcd${'0'.repeat(60)}.git`;
  assert.equal(resolveRepositoryPath('/root', good), `/root/${good}`);
  for (const path of [
    '',
    '..',
    '/etc',
    good.replace('ab/', 'ba/'),
    `../${good}`,
    `${good}/..`,
    good.toUpperCase(),
    null,
    1,
  ])
    assert.throws(() => resolveRepositoryPath('/root', path), { kind: 'invalid' }, String(path));
});

it('creates a repository once, complete and valid for git', async () => {
  const { ask, dir } = test.repository();
  const made = await Promise.all(Array.from({ length: 5 }, async () => await ask('repository.create', {})));
  assert.equal(made.filter(({ created }) => created).length, 1);
  assert.deepEqual(await ask('repository.create', {}), { created: false });
  assert.equal(await git(dir, 'rev-parse', '--is-bare-repository'), 'true');
  assert.equal(await git(dir, 'fsck'), '');
  assert.deepEqual(await readdir(join(test.root, '+making')), []);
});

it('creates the repository at the first write', async () => {
  const source = test.repository();
  const [id] = await source.commitAll({ a: '1' });
  const { ask, dir } = test.repository();
  const updates = [{ ref: 'refs/heads/main', old: zeroOid, new: id! }];
  await assert.rejects(ask('refs.update', { updates }), { kind: 'missing' });
  assert.ok(existsSync(dir));
});

it('removes a repository immediately, and only once', async () => {
  const { ask, commitAll, dir } = test.repository();
  await commitAll({ a: '1' });
  await ask('refs.get', { names: ['refs/heads/main'] });
  await ask('repository.remove', {});
  assert.equal(existsSync(dir), false);
  assert.deepEqual(await ask('repository.exists', {}), { exists: false });
  assert.deepEqual(await ask('refs.get', { names: ['refs/heads/main'] }), { refs: [null] });
  await ask('repository.remove', {});
});

it('reports the size of a repository, whether it is empty, and its problems', async () => {
  const other = test.repository();
  await other.ask('repository.create', {});
  assert.equal((await other.ask('repository.statistics', {})).empty, true);
  const { ask, commitAll, git: run, dir } = test.repository();
  await commitAll({ a: 'x'.repeat(1000) });
  const { size, empty } = await ask('repository.statistics', {});
  assert.ok(size > 0 && !empty);
  assert.deepEqual(await ask('repository.check', {}), { problems: [] });
  await run('repack', '-adq');
  const folder = join(dir, 'objects/pack');
  const [pack] = (await readdir(folder)).filter((name) => name.endsWith('.pack'));
  const bytes = await readFile(join(folder, pack!));
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  await writeFile(join(folder, 'damaged'), bytes);
  await rename(join(folder, 'damaged'), join(folder, pack!));
  assert.ok((await ask('repository.check', {})).problems.length > 0);
});

it('reports no problem for flaws of old histories, which a push may bring', async () => {
  const { ask, commitAll, git: run, dir } = test.repository();
  await commitAll({ a: '1' });
  const tree = await run('rev-parse', 'main^{tree}');
  for (const person of ['A <a@example.com> 1 +051800', 'A <a@example.com>1 +0000']) {
    const text = `tree ${tree.trim()}\nauthor ${person}\ncommitter ${person}\n\nOld\n`;
    await writeFile(join(dir, 'old'), text);
    await run('hash-object', '-t', 'commit', '-w', '--literally', join(dir, 'old'));
  }
  assert.deepEqual(await ask('repository.check', {}), { problems: [] });
});

it('removes the stale lock of a killed git, and no recent lock', async () => {
  const { ask, commitAll, dir } = test.repository();
  const [id] = await commitAll({ a: '1' });
  const lock = join(dir, 'refs/heads/x.lock');
  const update = async () =>
    await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: zeroOid, new: id! }] });
  await writeFile(lock, '');
  assert.deepEqual(await removeStaleLocks(dir, Date.now()), []);
  await assert.rejects(update(), { kind: 'conflict' });
  await aged(lock, 11 * 60_000);
  assert.deepEqual(await removeStaleLocks(dir, Date.now()), ['refs/heads/x.lock']);
  await update();
});

it('removes locks older than the exclusive start of this process at the first write', async () => {
  const { ask, commitAll, dir, git: run } = test.repository();
  const [id] = await commitAll({ a: '1' });
  for (const name of ['refs/heads/x.lock', 'packed-refs.lock', 'packed-refs.new']) {
    await writeFile(join(dir, name), '');
    await aged(join(dir, name), 5_000);
  }
  noteExclusiveStart(Date.now());
  await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: zeroOid, new: id! }] });
  await run('pack-refs', '--all');
  await ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: id!, new: zeroOid }] });
  noteExclusiveStart(0);
});

it('removes aborted pushes, deleted repositories and unfinished ones', async () => {
  const { ask, commitAll, dir } = test.repository();
  await commitAll({ a: '1' });
  const [old, young] = ['objects/tmp_objdir-incoming-a', 'objects/tmp_objdir-incoming-b'];
  const away = join(test.root, '+deleted/x');
  const making = join(test.root, '+making/y');
  for (const folder of [join(dir, old), join(dir, young), away, making]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'file'), '');
  }
  await aged(join(dir, old), 25 * hour);
  await aged(away, 1000);
  await aged(making, 2 * hour);
  await tidyStorage({ root: test.root, log: () => undefined }, Date.now());
  assert.deepEqual(
    [join(dir, old), join(dir, young), away, making].map((folder) => existsSync(folder)),
    [false, true, false, false],
  );
  await aged(join(dir, young), 25 * hour);
  assert.deepEqual(await ask('repository.maintain', {}), { removed: [young] });
});

it('packs loose objects, with bitmaps and a commit graph, and loses nothing', async () => {
  const { commitAll, context, dir, git: run, ask } = test.repository();
  const ids = await commitAll(...Array.from({ length: 20 }, (_none, index) => ({ f: `${index}` })));
  const loose = async (): Promise<number> =>
    Number(/^count: (\d+)$/m.exec(await run('count-objects', '-v'))?.[1] ?? -1);
  assert.equal(await loose(), 60);
  await runHousekeeping(context, Date.now(), true);
  assert.equal(await loose(), 0);
  const packs = await readdir(join(dir, 'objects/pack'));
  assert.ok(
    packs.some((name) => name.endsWith('.bitmap')),
    packs.join(' '),
  );
  assert.ok(packs.includes('multi-pack-index'));
  assert.ok(existsSync(join(dir, 'objects/info/commit-graphs/commit-graph-chain')));
  assert.ok(existsSync(join(dir, 'packed-refs')));
  const { commits } = await ask('commits.get', { ids });
  assert.deepEqual(
    commits.map((commit) => commit?.id),
    ids,
  );
  assert.deepEqual(await ask('repository.check', {}), { problems: [] });
});

it('skips a repository without anything to pack', async () => {
  const { commitAll, context, dir, ask } = test.repository();
  await ask('repository.create', {});
  await runHousekeeping(context, Date.now(), true);
  await commitAll({ a: '1' });
  const before = await readdir(join(dir, 'objects'));
  await runHousekeeping(context, Date.now());
  assert.deepEqual(await readdir(join(dir, 'objects')), before);
});

it('repacks everything once a week, and keeps unreachable objects for two weeks', async () => {
  const { commitAll, context, dir, git: run } = test.repository();
  await commitAll({ a: '1' }, { a: '2' });
  const lost = await run('commit-tree', 'main^{tree}', '-m', 'nothing refers to it');
  await runHousekeeping(context, Date.now());
  await aged(join(dir, 'gantry-repacked'), 8 * 24 * hour);
  await runHousekeeping(context, Date.now());
  const packs = await readdir(join(dir, 'objects/pack'));
  assert.ok(
    packs.some((name) => name.endsWith('.mtimes')),
    packs.join(' '),
  );
  assert.equal(await run('cat-file', '-t', lost), 'commit');
  await runHousekeeping(context, Date.now()); // repacks again only after a week
  assert.deepEqual(await readdir(join(dir, 'objects/pack')), packs);
});

it('allows more packs to larger repositories', () => {
  assert.deepEqual([0, 1e6, 1e8, 1e9].map(packsAllowed), [2, 2, 7, 11]);
});

it('finds no orphans of another parent or folder', () => {
  assert.deepEqual(findOrphans(join(test.root, 'nowhere')), []);
});

it('counts changes of the most recently changed repositories', () => {
  const changes = new Map<string, number>();
  for (const dir of ['a', 'b', 'a', 'c', 'a', 'd', 'd']) countChange(changes, dir, 2);
  assert.deepEqual(
    [...changes],
    [
      ['a', 3],
      ['d', 2],
    ],
  );
});
