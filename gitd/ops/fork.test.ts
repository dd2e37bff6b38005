import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { newWorkTree, type WorkTree } from '../../test/support/repositories/git.ts';
import {
  startTestStorage,
  type TestRepository,
  type TestStorage,
} from '../../test/support/repositories/repository_storage.ts';
import { times } from '../../test/support/run/sample.ts';
import { writePack } from './transfer_packs.ts';

let storage: TestStorage;
let source: TestRepository;
let target: TestRepository;
let tree: WorkTree;

before(async () => void (storage = await startTestStorage()));
after(async () => await storage.stop());
beforeEach(async () => {
  source = storage.repository();
  target = storage.repository();
  await source.ask('repository.create', {});
  tree = await newWorkTree();
});
afterEach(async () => {
  assert.equal(await source.fsck(), '', 'fsck of the source is clean');
  assert.equal(await target.fsck(), '', 'fsck of the target is clean');
  await tree.remove();
});

const take = async (into: TestRepository, ...refs: string[]): Promise<void> =>
  void (await into.git('fetch', '--quiet', '--update-head-ok', tree.path, ...refs));

const refsOf = async (repository: TestRepository): Promise<string> => await repository.git('for-each-ref');

const alternatesOf = async (repository: TestRepository): Promise<string[]> =>
  (await readdir(join(repository.dir, 'objects/info'))).filter((name) => name.includes('alternates'));

const fill = async (): Promise<string> => {
  await tree.commit('one', { a: 'a\n' });
  await tree.git('tag', '-a', '-m', 'first', 'v1');
  await tree.git('checkout', '--quiet', '-b', 'topic/x');
  await tree.commit('two', { b: 'b\n' });
  await tree.git('checkout', '--quiet', 'main');
  const head = await tree.commit('three', { c: 'c\n' });
  await take(
    source,
    '+refs/*:refs/*',
    '+refs/heads/main:refs/merge-requests/1/head',
    'main:refs/keep-around/x',
  );
  return head;
};

const prefixes = ['refs/heads/', 'refs/tags'];

test('a fork has branches and tags, hard-linked objects and no internal refs', async () => {
  const head = await fill();
  await source.git('repack', '-d', '-q');
  await tree.commit('loose', { l: 'l\n' });
  await take(source, '+refs/heads/main:refs/heads/main');
  await target.ask('repository.fork', { source: source.name, refs: prefixes });
  const names = await target.git('for-each-ref', '--format=%(refname)');
  assert.deepEqual(names.split('\n'), ['refs/heads/main', 'refs/heads/topic/x', 'refs/tags/v1']);
  const [pack] = (await readdir(join(source.dir, 'objects/pack'))).filter((name) => name.endsWith('.pack'));
  const inode = async ({ dir }: TestRepository): Promise<number> =>
    (await stat(join(dir, 'objects/pack', pack!))).ino;
  assert.equal(await inode(target), await inode(source));
  assert.deepEqual(await alternatesOf(target), []);
  const config = await readFile(join(target.dir, 'config'), 'utf8');
  assert.equal(config.includes('remote'), false, 'nothing of the source stands in its settings');
  await source.ask('repository.remove', {});
  assert.equal(await target.git('rev-parse', 'main^'), head, 'it lives on without its source');
  await source.ask('repository.create', {});
});

test('a fork of one branch has only that branch', async () => {
  await fill();
  await target.ask('repository.fork', { source: source.name, refs: ['refs/heads/topic/x'] });
  assert.equal(await target.git('for-each-ref', '--format=%(refname)'), 'refs/heads/topic/x');
});

test('a fork of an empty repository is empty', async () => {
  const nothing = storage.repository();
  await target.ask('repository.fork', { source: nothing.name, refs: prefixes });
  assert.equal(await refsOf(target), '');
});

test('a fork onto an existing repository is refused and changes nothing', async () => {
  await fill();
  await tree.commit('other', { x: 'x\n' });
  await target.ask('repository.create', {});
  await take(target, 'main:refs/heads/mine');
  const before = await refsOf(target);
  await assert.rejects(target.ask('repository.fork', { source: source.name, refs: prefixes }), {
    kind: 'conflict',
  });
  assert.equal(await refsOf(target), before);
  const making = await readdir(join(storage.root, '+making')).catch(() => []);
  assert.deepEqual(making, []);
});

test('a fork accepts only branches and tags, and only sources in the storage', async () => {
  await fill();
  for (const refs of [['refs/'], ['refs/merge-requests/'], ['--exec=x'], ['refs/heads/../x'], ['']])
    await assert.rejects(target.ask('repository.fork', { source: source.name, refs }), { kind: 'invalid' });
  for (const from of ['../x', source.dir, '', '@hashed/aa/bb/x.git'])
    await assert.rejects(target.ask('repository.fork', { source: from, refs: prefixes }), {
      kind: 'invalid',
    });
  await target.ask('repository.create', {});
});

test('a fork is complete while its source is being repacked', async () => {
  await fill();
  let repacking = true;
  const repack = async (): Promise<void> => {
    for (let turn = 0; repacking; turn += 1) {
      await tree.commit(`turn ${turn}`, { a: `${turn}\n` });
      await take(source, '+refs/heads/main:refs/heads/main');
      await source.git('repack', '-a', '-d', '-q');
      await source.git('prune-packed', '-q');
    }
  };
  const work = repack();
  try {
    for (let turn = 0; turn < times(12, 4); turn += 1) {
      const fork = storage.repository();
      await fork.ask('repository.fork', { source: source.name, refs: prefixes });
      assert.equal(await fork.fsck(), '');
    }
  } finally {
    repacking = false;
    await work;
  }
  await target.ask('repository.create', {});
});

test('of two concurrent forks to one path, one succeeds and the other fails', async () => {
  await fill();
  const both = [1, 2].map(
    async () => await target.ask('repository.fork', { source: source.name, refs: prefixes }),
  );
  const ended = await Promise.allSettled(both);
  assert.deepEqual(ended.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('a commit is fetched with all its objects, and kept by the ref', async () => {
  await fill();
  await target.ask('repository.fork', { source: source.name, refs: prefixes });
  const commit = await tree.commit('in the fork', { 'new file': 'n\n'.repeat(1000) });
  await take(target, '+refs/heads/main:refs/heads/main');
  const ref = 'refs/merge-requests/7/head';
  const packs = async (): Promise<number> => (await readdir(join(source.dir, 'objects/pack'))).length;
  assert.equal(await packs(), 0);
  await source.ask('repository.fetch_commit', { source: target.name, commit, ref });
  assert.equal(await source.git('rev-parse', ref), commit);
  assert.deepEqual(await alternatesOf(source), []);
  const counted = await source.git('count-objects', '-v');
  assert.ok(counted.includes('in-pack: 3'), 'nothing but the three new objects came');
  const before = await packs();
  await source.ask('repository.fetch_commit', { source: target.name, commit, ref });
  await source.ask('repository.fetch_commit', { source: target.name, commit, ref: 'refs/keep-around/y' });
  const older = await target.git('rev-parse', 'main~2');
  await source.ask('repository.fetch_commit', {
    source: target.name,
    commit: older,
    ref: 'refs/keep-around/z',
  });
  assert.equal(await packs(), before, 'what is there does not come again');
  await target.ask('repository.remove', {});
  assert.equal(await source.git('show', `${ref}:new file`), 'n\n'.repeat(1000).trimEnd());
  await target.ask('repository.create', {});
});

test('an empty repository receives the whole history', async () => {
  const commit = await fill();
  await target.ask('repository.fetch_commit', {
    source: source.name,
    commit,
    ref: 'refs/merge-requests/1/head',
  });
  assert.equal(await target.git('rev-list', '--count', 'refs/merge-requests/1/head'), '2');
});

test('an object that is not a commit of the source is refused', async () => {
  const commit = await fill();
  const ref = 'refs/merge-requests/1/head';
  const wrong = async (params: object): Promise<void> => {
    await target.ask('repository.fetch_commit', { source: source.name, commit, ref, ...params });
  };
  await assert.rejects(wrong({ commit: '1'.repeat(40) }), { kind: 'missing' });
  await assert.rejects(wrong({ commit: '--all' }), { kind: 'invalid' });
  await assert.rejects(wrong({ commit: await source.git('rev-parse', 'main:a') }), { kind: 'invalid' });
  await assert.rejects(wrong({ source: storage.repository().name }), { kind: 'no_repository' });
  await assert.rejects(wrong({ ref: 'refs/heads/--x' }), { kind: 'invalid' });
  await assert.rejects(wrong({ ref: 'x\ndelete refs/heads/main' }), { kind: 'invalid' });
  await target.ask('repository.create', {});
});

test('a storage with a colon in its path works', async () => {
  const commit = await fill();
  const { quotedFolder } = await import('../odb/quarantine.ts');
  const odd = join(storage.root, 'a:b "c" \\d');
  await mkdir(odd);
  await source.git('clone', '--quiet', '--bare', source.dir, join(odd, 'x.git'));
  await target.ask('repository.create', {});
  const { stdout } = await target.context.exec.run({
    command: 'cat-file',
    args: ['-t', commit] as never,
    dir: target.dir,
    slot: null,
    seconds: 10,
    variables: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(join(odd, 'x.git/objects')) },
  });
  assert.equal(stdout.toString(), 'commit\n');
});

test('a pack is transferred between storages, the second time only with new objects', async () => {
  const commit = await fill();
  const pack = await source.read('pack.read', { commits: [commit], not: [] });
  await target.read('pack.write', {}, pack);
  await target.ask('refs.update', { updates: [{ ref: 'refs/heads/main', old: null, new: commit }] });
  const next = await tree.commit('next', { a: 'changed\n' });
  await take(source, '+refs/heads/main:refs/heads/main');
  const unknown = '1'.repeat(40);
  const small = await source.read('pack.read', { commits: [next], not: [commit, unknown] });
  assert.equal(small.readUInt32BE(8), 3);
  await target.read('pack.write', {}, small);
  await target.ask('refs.update', { updates: [{ ref: 'refs/heads/main', old: commit, new: next }] });
  const nothing = await source.read('pack.read', { commits: [next], not: [next] });
  await target.read('pack.write', {}, nothing);
  assert.equal(await target.git('rev-list', '--count', 'main'), '3');
});

test('a pack may take the time that its caller gives it', async () => {
  const commit = await fill();
  const pack = await source.read('pack.read', { commits: [commit], not: [] });
  const { context } = target;
  const limits: (number | null)[] = [];
  const start: typeof context.exec.start = async (run) => {
    limits.push(run.seconds);
    return await context.exec.start(run);
  };
  const own = { ...context, exec: { ...context.exec, start } };
  const never = async (): Promise<never> => await Promise.reject(new Error('nobody answers'));
  for (const params of [{ seconds: 7_200 }, {}]) {
    const io = { input: Readable.from([pack]), output: new PassThrough(), ask: never, notify: never };
    await writePack({ repository: target.name, ...params }, own, io);
  }
  assert.deepEqual(limits, [7_200, 3_600]);
});

test('a damaged, truncated, incomplete or hostile pack is refused', async () => {
  const commit = await fill();
  const pack = await source.read('pack.read', { commits: [commit], not: [] });
  const next = await tree.commit('next', { a: 'changed\n' });
  await take(source, '+refs/heads/main:refs/heads/main');
  const incomplete = await source.read('pack.read', { commits: [next], not: [commit] });
  const broken = Buffer.from(pack);
  broken[40] = (broken[40] ?? 0) ^ 0xff;
  const { buildPack } = await import('../odb/build_pack.ts');
  const { hashObject: oidOf } = await import('../odb/loose_object_writer.ts');
  const { buildTree } = await import('../odb/raw_tree.ts');
  const content = Buffer.from('x');
  const id = oidOf('blob', content);
  const hostile = buildPack([
    { kind: 'blob', content },
    { kind: 'tree', content: buildTree([{ mode: 0o100644, name: '.git', id }]) },
  ]);
  for (const bytes of [
    broken,
    pack.subarray(0, pack.length / 2),
    incomplete,
    hostile,
    Buffer.from('no pack'),
    Buffer.alloc(0),
  ])
    await assert.rejects(target.read('pack.write', {}, bytes), { kind: 'invalid' });
  const left = (await readdir(join(target.dir, 'objects/pack'))).filter((name) => name.startsWith('pack-'));
  assert.deepEqual(left, []);
  await writeFile(join(target.dir, 'description'), 'still there');
});
