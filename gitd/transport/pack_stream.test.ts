/** Tests plain fetches, whose packs come from `git pack-objects` itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  newRepositoryAndTree,
  type TestRepository,
  useStorage,
} from '../../test/support/repositories/repository_storage.ts';
import { GitError } from '../git_error.ts';
import { packet, readPacketAt } from './packet_lines.ts';
import { parsePlainFetch, parseRequest } from './parse_request.ts';
import { uploadPack } from './upload_pack.ts';

const storage = useStorage();

const fetchRequest = (...args: string[]): Buffer =>
  Buffer.concat([
    packet('command=fetch\n'),
    packet('object-format=sha1\n'),
    Buffer.from('0001'),
    ...args.map((line) => packet(`${line}\n`)),
    Buffer.from('0000'),
  ]);

/** What a response sends on each band, and what comes before the first. */
const readResponse = async (repository: TestRepository, ...args: string[]) => {
  const params = { protocol: 2, stateless: true, head: 'refs/heads/main' } as const;
  const bytes = await repository.read('transport.upload_pack', params, fetchRequest(...args));
  const packets: (Buffer | null)[] = [];
  for (let at = 0; at < bytes.length;) {
    const found = readPacketAt(bytes, at);
    assert.ok(found !== null);
    packets.push(found.packet.kind === 'data' ? found.packet.data : null);
    at = found.next;
  }
  const onBand = (band: number): Buffer =>
    Buffer.concat(packets.slice(1).flatMap((data) => (data?.[0] === band ? [data.subarray(1)] : [])));
  return {
    section: packets[0]?.toString(),
    pack: onBand(1),
    progress: onBand(2).toString(),
    error: onBand(3).toString(),
    isEnded: packets.at(-1) === null,
  };
};

/** Adds a pack to a repository of its own that has the objects of `haves`, and returns the ids of the pack. */
const listObjects = (repository: TestRepository, pack: Buffer, hasBase: boolean): string[] => {
  const target = `${repository.dir}-client`;
  execFileSync('git', ['init', '--quiet', '--bare', target]);
  const options = {
    cwd: target,
    input: pack,
    maxBuffer: 2 ** 27,
    env: {
      ...process.env,
      ...(hasBase && { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository.dir, 'objects') }),
    },
  };
  try {
    execFileSync('git', ['index-pack', '--stdin', '--fix-thin'], options);
    const [name = ''] = readdirSync(join(target, 'objects/pack')).filter((file) => file.endsWith('.idx'));
    const lines = execFileSync('git', ['show-index'], {
      ...options,
      input: execFileSync('cat', [join(target, 'objects/pack', name)]),
    });
    return lines
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[1] ?? '')
      .toSorted();
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
};

const objectsBetween = async ({ git }: TestRepository, ...revisions: string[]): Promise<string[]> =>
  (await git('rev-list', '--objects', '--no-object-names', ...revisions)).split('\n').toSorted();

test('a first clone gets all objects of its wants, in one pack', async () => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  // Long enough for many packets, and not compressible.
  const long = randomBytes(400_000).toString('base64');
  const [, second = ''] = await repository.commitAll({ 'a.txt': 'a' }, { 'b.txt': long });
  const { section, pack, progress, error, isEnded } = await readResponse(
    repository,
    'ofs-delta',
    'no-progress',
    `want ${second}`,
    'done',
  );
  assert.deepEqual([section, progress, error, isEnded], ['packfile\n', '', '', true]);
  assert.deepEqual(listObjects(repository, pack, false), await objectsBetween(repository, second));
  await tree.remove();
});

test('a fetch gets what it lacks; commits that the repository lacks do not count', async () => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  const [first = '', second = ''] = await repository.commitAll({ 'a.txt': 'a' }, { 'b.txt': 'b' });
  const args = ['thin-pack', 'ofs-delta', 'no-progress', `want ${second}`];
  const { pack } = await readResponse(repository, ...args, `have ${'1'.repeat(40)}`, `have ${first}`, 'done');
  assert.deepEqual(
    listObjects(repository, pack, true),
    await objectsBetween(repository, second, `^${first}`),
  );
  const all = await readResponse(repository, ...args, `have ${'1'.repeat(40)}`, 'done');
  assert.deepEqual(listObjects(repository, all.pack, false), await objectsBetween(repository, second));
  await tree.remove();
});

test('annotated tags come with their commits, and progress is shown, for clients that ask', async () => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  const [only = ''] = await repository.commitAll({ 'a.txt': 'a' });
  await repository.git('tag', '-a', '-m', 'first', 'v1', only);
  const tag = await repository.git('rev-parse', 'refs/tags/v1');
  const plain = await readResponse(repository, 'no-progress', `want ${only}`, 'done');
  assert.equal(listObjects(repository, plain.pack, false).includes(tag), false);
  const asked = await readResponse(repository, 'include-tag', `want ${only}`, 'done');
  assert.ok(listObjects(repository, asked.pack, false).includes(tag));
  assert.match(asked.progress, /Enumerating objects/);
  await tree.remove();
});

test('a client of a damaged repository is told that there is no pack', async () => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  const [only = ''] = await repository.commitAll({ 'a.txt': 'a' });
  const blob = await repository.git('rev-parse', `${only}:a.txt`);
  const file = join(repository.dir, 'objects', blob.slice(0, 2), blob.slice(2));
  assert.ok(existsSync(file), 'the object is loose');
  rmSync(file);
  const { error, isEnded } = await readResponse(repository, 'no-progress', `want ${only}`, 'done');
  assert.deepEqual([error, isEnded], ['the pack could not be made\n', false]);
  await tree.remove();
});

test('clients that leave in the middle of a pack, or are cut off, free the places of their processes', async () => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  const [only = ''] = await repository.commitAll({ 'a.bin': randomBytes(1_500_000).toString('latin1') });
  await tree.remove();
  const args = ['no-progress', `want ${only}`, 'done'];
  for (const more of [['ofs-delta'], ['thin-pack']]) {
    const control = new AbortController();
    const outputs = Array.from(
      { length: 16 },
      () => new Writable({ highWaterMark: 1, write: () => undefined }),
    );
    const stalled = outputs.map(async (output) => {
      output.on('error', () => undefined);
      const io = {
        output,
        input: Readable.from([fetchRequest(...args)]),
        ask: assert.fail,
        tell: assert.fail,
      };
      const params = { repository: repository.name, protocol: 2, stateless: true, head: null } as const;
      await uploadPack(params, { ...repository.context, signal: control.signal }, io as never).catch(
        () => undefined,
      );
    });
    await setTimeout(300);
    control.abort(new GitError('limit', 'the client is too slow'));
    // These clients are still connected, and read nothing.
    const { pack, error } = await readResponse(repository, ...more, ...args);
    assert.deepEqual([pack.toString('latin1', 0, 4), error], ['PACK', '']);
    for (const output of outputs) output.destroy(new Error('the client has gone'));
    await Promise.all(stalled);
  }
});

test('negotiation, shallow history, filters and unknown words are left to upload-pack', () => {
  const id = '1'.repeat(40);
  const plain = (...args: string[]) => parsePlainFetch(parseRequest(fetchRequest(...args)));
  assert.deepEqual(plain(`want ${id}`, `have ${id}`, 'thin-pack', 'done'), {
    wants: [id],
    haves: [id],
    isThin: true,
    hasProgress: true,
    takesOffsetDeltas: false,
    takesTags: false,
  });
  for (const word of ['deepen 1', 'shallow 1', 'filter blob:none', 'sideband-all', 'have x', 'wait-for-done'])
    assert.equal(plain(`want ${id}`, word, 'done'), null, word);
  assert.equal(plain(`want ${id}`, `have ${id}`), null);
});
