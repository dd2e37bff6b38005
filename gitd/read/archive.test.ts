import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { tryGit, type WorkTree } from '../../test/support/repositories/git.ts';
import {
  type TestRepository,
  newRepositoryAndTree,
  useStorage,
} from '../../test/support/repositories/repository_storage.ts';
import type { StreamIo } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { makeObjectWriter } from '../odb/loose_object_writer.ts';
import { buildTree } from '../odb/raw_tree.ts';
import { readArchive } from './archive.ts';
import { countFiles } from './check_tree_size.ts';

let repository: TestRepository;
let tree: WorkTree;

const storage = useStorage();
beforeEach(async () => void ({ repository, tree } = await newRepositoryAndTree(storage)));
afterEach(async () => await tree.remove());

const fill = async (files: Record<string, string>): Promise<string> => {
  await mkdir(join(tree.path, 'd/e'), { recursive: true });
  const commit = await tree.commit('all', files);
  await repository.git('fetch', '--quiet', '--update-head-ok', tree.path, '+refs/*:refs/*');
  return commit;
};

const files = { a: 'a\n', 'd/b': 'b\n', 'd/e/c': 'c\n', '--x': 'x\n' };
const formats = ['tar', 'tar.gz', 'tar.bz2', 'zip'] as const;
const namesIn = (tar: Buffer): string[] =>
  execFileSync('tar', ['-tf', '-'], { input: tar }).toString().trim().split('\n');

test('the same commit gives the same bytes in every format', async () => {
  const commit = await fill(files);
  for (const format of formats) {
    const params = { commit, format, prefix: 'x-1/' };
    const [one, other] = [
      await repository.read('archive.read', params),
      await repository.read('archive.read', params),
    ];
    assert.ok(one.length > 100);
    const [first, second] = [one, other].map((bytes) => hash('sha256', bytes, 'hex'));
    assert.equal(first, second, format);
  }
});

test('an archive has all files below the prefix, with the time of the commit', async () => {
  const commit = await fill(files);
  const tar = await repository.read('archive.read', { commit, format: 'tar', prefix: 'x-1/' });
  assert.deepEqual(namesIn(tar), ['x-1/', 'x-1/--x', 'x-1/a', 'x-1/d/', 'x-1/d/b', 'x-1/d/e/', 'x-1/d/e/c']);
  const packed = await repository.read('archive.read', { commit, format: 'tar.gz', prefix: 'x-1/' });
  assert.ok(gunzipSync(packed).equals(tar));
  assert.deepEqual([...packed.subarray(3, 8)], [0, 0, 0, 0, 0], 'neither name nor time');
  const time = Number(await repository.git('show', '-s', '--format=%ct', commit));
  const second = tar.indexOf('x-1/--x\0');
  assert.equal(Number.parseInt(tar.toString('latin1', second + 136, second + 147), 8), time);
});

test('files of a zip have the time of the commit, also in an archive of one folder', async () => {
  const seconds = 1_600_000_000;
  const filled = await fill(files);
  const { stdout } = await tryGit(
    repository.dir,
    [`--git-dir=${repository.dir}`, 'commit-tree', `${filled}^{tree}`, '-m', 'old'],
    {
      GIT_COMMITTER_DATE: `${seconds} +0000`,
    },
  );
  const commit = stdout.trim();
  const date = new Date(seconds * 1000);
  const dosTime = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  const dosDate = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  for (const part of [{}, { path: 'd' }]) {
    const zip = await repository.read('archive.read', { commit, format: 'zip', prefix: 'x-1/', ...part });
    assert.deepEqual([zip.readUInt16LE(10), zip.readUInt16LE(12)], [dosTime, dosDate]);
  }
});

test('a prefix may be longer than the name of a file', async () => {
  const commit = await fill(files);
  const prefix = `${'x'.repeat(300)}/`;
  const tar = await repository.read('archive.read', { commit, format: 'tar', prefix });
  assert.ok(namesIn(tar).includes(`${prefix}a`));
});

test('an archive can contain a single folder or file', async () => {
  const commit = await fill(files);
  const part = async (path: string): Promise<string[]> =>
    namesIn(await repository.read('archive.read', { commit, format: 'tar', prefix: '', path })).filter(
      (name) => !name.endsWith('/'),
    );
  assert.deepEqual(await part('d'), ['d/b', 'd/e/c']);
  assert.deepEqual(await part('d/e'), ['d/e/c']);
  assert.deepEqual(await part('--x'), ['--x']);
});

test('missing objects and hostile prefixes or paths are refused before a process starts', async () => {
  const commit = await fill(files);
  const good = { commit, format: 'tar', prefix: '' } as const;
  const ask = async (params: object): Promise<Buffer> =>
    await repository.read('archive.read', { ...good, ...params });
  for (const path of ['no', 'a/b', '../x', '--output=/tmp/gantry-no', ':/', '*'])
    await assert.rejects(ask({ path }), { kind: 'missing' }, path);
  for (const prefix of ['/etc/', '../', 'a/../', 'a', 'a\n/', 'a\0/', 'a\\..\\/'])
    await assert.rejects(ask({ prefix }), { kind: 'invalid' }, prefix);
  await assert.rejects(ask({ commit: '1'.repeat(40) }), { kind: 'missing' });
  await assert.rejects(ask({ commit: '--remote=x' }), { kind: 'invalid' });
});

test('a path whose name is shown with replacement characters is missing, for git compares bytes', async () => {
  const writer = makeObjectWriter(join(repository.dir, 'objects'), false);
  const id = writer.add('blob', Buffer.from('x'));
  const top = writer.add('tree', buildTree([{ mode: 0o100644, name: 'f\xFF', id }]));
  await writer.flush();
  const commit = await repository.git('commit-tree', '-m', 'odd', top);
  const { entries } = (await repository.ask('tree.list', {
    commit,
    path: '',
    recursive: false,
    offset: 0,
    limit: 1,
  })) as { entries: { name: string }[] };
  assert.equal(entries[0]?.name, 'f\uFFFD');
  const read = repository.read('archive.read', { commit, format: 'tar', prefix: '', path: 'f\uFFFD' });
  await assert.rejects(read, { kind: 'missing' });
});

/** `depth` levels of `width` times the same folder. */
const makeBomb = async (depth: number, width: number): Promise<string> => {
  const writer = makeObjectWriter(join(repository.dir, 'objects'), false);
  const id = writer.add('blob', Buffer.from('boom'));
  const names = Array.from({ length: width }, (_, index) => `n${index}`);
  let top = writer.add('tree', buildTree(names.map((name) => ({ mode: 0o100644, name, id }))));
  for (let level = 0; level < depth; level += 1) {
    const below = top;
    top = writer.add('tree', buildTree(names.map((name) => ({ mode: 0o40000, name, id: below }))));
  }
  await writer.flush();
  return await repository.git('commit-tree', '-m', 'bomb', top);
};

test('a tree that expands to a thousand million paths is refused', async () => {
  const commit = await makeBomb(8, 10);
  await assert.rejects(repository.read('archive.read', { commit, format: 'zip', prefix: '' }), {
    kind: 'too_large',
  });
  const top = await repository.git('rev-parse', `${commit}^{tree}`);
  const most = { files: 2 ** 50, folders: 10 };
  assert.equal(await countFiles(repository.context, top, most), 1_111_111_110);
  await assert.rejects(countFiles(repository.context, top, { files: 2 ** 50, folders: 5 }), {
    kind: 'too_large',
  });
});

/** Writes an archive of many megabytes into a pipe with a small buffer. */
const startLarge = async (): Promise<{
  output: PassThrough;
  control: AbortController;
  work: Promise<object>;
}> => {
  for (let index = 0; index < 40; index += 1)
    await writeFile(join(tree.path, `random${index}`), randomBytes(256 * 1024));
  const commit = await fill({});
  const output = new PassThrough({ highWaterMark: 1024 });
  const control = new AbortController();
  const never = async (): Promise<never> => await Promise.reject(new Error('nobody answers'));
  const io: StreamIo = { input: Readable.from([]), output, ask: never, notify: never };
  const params = { repository: repository.name, commit, format: 'tar' as const, prefix: '' };
  const work = readArchive(params, { ...repository.context, signal: control.signal }, io);
  work.catch(() => undefined);
  await once(output, 'readable');
  return { output, control, work };
};

test('an archive ends when its reader closes', async () => {
  const { output, work } = await startLarge();
  output.destroy();
  await assert.rejects(work, { kind: 'unavailable' });
});

test('an archive ends on abort although its reader has stalled', async () => {
  const { control, work } = await startLarge();
  control.abort(new GitError('limit', 'too long'));
  await assert.rejects(work, { kind: 'limit' });
});

test('a slow reader slows the archive process down', async () => {
  const { output, work } = await startLarge();
  await wait(300);
  assert.ok(output.readableLength + output.writableLength < 2 ** 20);
  let size = 0;
  for await (const chunk of output) size += (chunk as Buffer).length;
  await work;
  assert.ok(size > 10 * 2 ** 20);
});
