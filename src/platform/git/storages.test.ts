import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { git, newWorkTree } from '../../../test/support/repositories/git.ts';
import { until } from '../../../test/support/until.ts';
import type { GitFailure } from './failure.ts';
import { writeMarker } from './instance_marker.ts';
import type { RepositoryLocation } from './repository.ts';
import {
  type GitParts,
  type GitStorages,
  getLocalRoot,
  generateRepositoryPath,
  openGit,
} from './storages.ts';
import { superviseGitd, chooseSocketPath } from './supervise_gitd.ts';

let data: string;
let storages: GitStorages;
const secret = 's'.repeat(32);
const instance = randomUUID();

const site = { name: 'default', path: null, address: null };
const parts = (more: Partial<GitParts> = {}): GitParts => ({
  storages: [site],
  data,
  secret: null,
  ca: null,
  instance,
  random: randomBytes,
  log: () => undefined,
  ...more,
});

before(async () => {
  data = await mkdtemp(join(tmpdir(), 'gantry-git-test-'));
  await mark(data);
  storages = openGit(parts());
});
after(async () => {
  await storages.stop();
  await rm(data, { recursive: true, force: true });
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Marks the storage below a data folder as ours, as startup does. */
const mark = async (folder: string): Promise<void> => await writeMarker(getLocalRoot(folder, site), instance);

/** Locates the repository of a project. */
const placeAt = (id: number, repository_storage = 'default'): RepositoryLocation => ({
  id,
  repository_storage,
  repository_path: null,
  repository_written: 0,
});

let lastId = 0;

/** Creates a repository with one commit of these files. */
const filled = async (files: Record<string, string>) => {
  lastId += 1;
  const repository = storages.repository(placeAt(lastId));
  await repository.ask('repository.create', {});
  const tree = await newWorkTree();
  const commit = await tree.commit('one', files);
  await tree.git('push', '--quiet', join(getLocalRoot(data, site), repository.path), 'HEAD:refs/heads/main');
  await tree.remove();
  return { repository, commit };
};

it('puts each repository where its hash says', () => {
  const { path } = storages.repository(placeAt(1));
  assert.equal(path, '@hashed/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b.git');
  const repository_path = generateRepositoryPath();
  assert.match(repository_path, /^@hashed\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.git$/);
  assert.equal(storages.repository({ ...placeAt(1), repository_path }).path, repository_path);
  assert.throws(() => storages.repository(placeAt(1, 'nowhere')), { kind: 'unavailable' });
});

it('starts nothing before it is asked, and only once for many who ask', async () => {
  const fresh = openGit(parts({ data: join(data, 'f') }));
  assert.equal(existsSync(join(data, 'f')), false);
  const all = await Promise.all(Array.from({ length: 10 }, async () => await fresh.status('default')));
  assert.equal(new Set(all.map(({ pid }) => pid)).size, 1);
  await fresh.stop();
  assert.equal(isAlive(all[0]!.pid), false);
  // If paths are too long for a socket, it was elsewhere.
  const sockets = join(data, 'f/gitd/default');
  assert.deepEqual(existsSync(sockets) ? await readdir(sockets) : [], []);
  await assert.rejects(fresh.status('default'), { kind: 'unavailable' });
});

it('answers with results and bytes', async () => {
  const { repository, commit } = await filled({ a: 'ä\0b' });
  assert.equal((await repository.ask('revision.resolve', { revision: 'main' }))?.commit, commit);
  const { result, body } = await repository.read('blob.at', { commit, path: 'a', max: 100 });
  assert.equal(result?.size, 4);
  assert.deepEqual(body, Buffer.from('ä\0b'));
});

it('tells the kind of a failure', async () => {
  const { repository, commit } = await filled({ a: '1' });
  const updates = [{ ref: 'refs/heads/main', old: '0'.repeat(40), new: commit }];
  await assert.rejects(repository.ask('refs.update', { updates }), { name: 'GitFailure', kind: 'conflict' });
  await assert.rejects(
    repository
      .ask('commits.get', { ids: ['x'] })
      .then(() => repository.ask('nothing' as 'refs.get', { names: [] })),
    {
      kind: 'invalid',
    },
  );
});

it('streams bytes in constant memory, and slows git down with its reader', async () => {
  const size = 30_000_000;
  const { repository, commit } = await filled({ large: 'x'.repeat(size) });
  const stream = await repository.stream('blob.read', { commit, path: 'large' });
  stream.writable.end();
  await new Promise((done) => setTimeout(done, 300));
  assert.ok(stream.readable.readableLength < 4_000_000, 'nobody read yet');
  assert.equal((await buffer(stream.readable)).length, size);
  assert.equal((await stream.result)?.size, size);
});

it('tells a stream that cannot be, and one for which there is nothing', async () => {
  const { repository, commit } = await filled({ a: '1' });
  const none = await repository.stream('blob.read', { commit, path: 'x' });
  none.writable.end();
  assert.equal((await buffer(none.readable)).length, 0);
  assert.equal(await none.result, null);
  const bad = await repository.stream('blob.read', { commit: '--all', path: 'x' });
  bad.writable.end();
  await assert.rejects(bad.result, { kind: 'invalid' });
  await assert.rejects(buffer(bad.readable), { kind: 'invalid' });
});

it('stops git when the reader of a stream leaves', async () => {
  const { repository, commit } = await filled({ large: randomBytes(5_000_000).toString('hex') });
  const running = async (): Promise<string[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lineOf = (pid: string): string => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    };
    return pids.map(lineOf).filter((line) => line.includes(repository.path) && line.includes('\0blob\0'));
  };
  const stream = await repository.stream('blob.read', { commit, path: 'large' });
  stream.writable.end();
  await new Promise((done) => stream.readable.once('readable', done));
  // gitd may be about to become git in a second process.
  while ((await running()).length !== 1) await new Promise((done) => setTimeout(done, 20));
  stream.readable.destroy();
  await assert.rejects(stream.result, { kind: 'unavailable' });
  while ((await running()).length > 0) await new Promise((done) => setTimeout(done, 20));
});

it('gives up at the deadline and when the caller does', async () => {
  const { repository, commit } = await filled({ a: '1' });
  const slow = { from: [commit], skip: 0, limit: 1, path: 'a' };
  await assert.rejects(repository.ask('commits.list', slow, undefined, { seconds: 0.000_1 }), {
    kind: 'limit',
  });
  const control = new AbortController();
  const asked = repository.ask('commits.list', { ...slow, author: 'x' }, undefined, {
    signal: control.signal,
  });
  control.abort(new Error('no longer wanted'));
  await assert.rejects(asked, { message: 'no longer wanted' });
  await assert.rejects(repository.stream('blob.read', { commit, path: 'a' }, { signal: control.signal }));
  assert.ok((await repository.ask('commits.list', slow)).commits.length > 0);
});

it('starts gitd again after kill -9; calls under way fail, reads do not', async () => {
  const { repository, commit } = await filled({ a: '1', large: 'x'.repeat(8_000_000) });
  const { pid } = await storages.status('default');
  const stream = await repository.stream('blob.read', { commit, path: 'large' });
  await new Promise((done) => setTimeout(done, 1100)); // gitd is not restarted at once if it died sooner than that
  process.kill(pid, 'SIGKILL');
  const reads = await Promise.all(
    Array.from({ length: 20 }, async () => await repository.ask('refs.get', { names: ['refs/heads/main'] })),
  );
  assert.ok(reads.every(({ refs }) => refs[0]?.commit === commit));
  stream.readable.resume();
  await assert.rejects(stream.result, { kind: 'unavailable' });
  assert.notEqual((await storages.status('default')).pid, pid);
  const update = { updates: [{ ref: 'refs/heads/again', old: null, new: commit }] };
  await repository.ask('refs.update', update);
});

/** Starts a process that opens the storages of `folder` and prints the id of their gitd. */
const startParent = async (folder: string): Promise<{ child: ChildProcess; pid: number }> => {
  const code = `
    import { openGit } from ${JSON.stringify(join(import.meta.dirname, 'storages.ts'))};
    import { randomBytes } from 'node:crypto';
    const storages = openGit({ storages: [{ name: 'default', path: null, address: null }], data: ${JSON.stringify(folder)},
      secret: null, instance: ${JSON.stringify(instance)}, random: randomBytes, log: () => undefined });
    console.log((await storages.status('default')).pid);
    const repository = storages.repository(${JSON.stringify(placeAt(1))});
    await repository.ask('repository.create', {});
    await repository.ask('refs.get', { names: ['refs/heads/main'] });
    console.log('ready');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const said: string[] = [];
  for await (const line of lines) {
    said.push(line);
    if (said.length === 2) break;
  }
  return { child, pid: Number(said[0]) };
};

it('goes with its parent, however that ends, and takes its git processes along', async () => {
  const folder = join(data, 'killed');
  await mark(folder);
  const { child, pid } = await startParent(folder);
  assert.ok(isAlive(pid));
  child.kill('SIGKILL');
  await until('gitd ended', () => !isAlive(pid));
  const lineOf = (name: string): string => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  const left = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && lineOf(name).includes(folder));
  assert.deepEqual(left, []);
});

it('finds a short place for the socket where the path of the data folder is long', async () => {
  const near = { path: join(data, 'short/abcdefabcdef.sock'), folder: null };
  assert.deepEqual(chooseSocketPath(join(data, 'short'), 'abcdefabcdef'), near);
  const long = join(data, 'x'.repeat(120));
  await mkdir(long);
  const { path, folder } = chooseSocketPath(long, 'abcdefabcdef');
  assert.ok(Buffer.byteLength(path) <= 100, path);
  assert.equal(statSync(folder!).mode & 0o777, 0o700);
  await rm(folder!, { recursive: true });
  const deep = openGit(parts({ data: long }));
  assert.ok((await deep.status('default')).pid > 0);
  await deep.stop();
});

const tcp = async (theirs: string, ours: string) => {
  const root = join(data, `tcp-${theirs.length}`);
  const supervisor = superviseGitd(
    { root, listen: { host: '127.0.0.1', port: 0 }, secret: theirs, onLine: () => undefined },
    () => 'abcdefabcdef',
  );
  await writeMarker(root, instance);
  const { address } = await supervisor.place();
  const there = { name: 'there', path: null, address: address as { host: string; port: number } };
  const open = () => openGit(parts({ storages: [there], secret: ours }));
  return { supervisor, open, root };
};

it('serves several services by TCP, and refuses one with another secret', async () => {
  const { supervisor, open, root } = await tcp(secret, secret);
  const [one, two] = [open(), open()];
  const repository = one.repository(placeAt(1, 'there'));
  await repository.ask('repository.create', {});
  assert.deepEqual(await two.repository(placeAt(1, 'there')).ask('repository.exists', {}), {
    exists: true,
  });
  assert.equal(await git(join(root, repository.path), 'rev-parse', '--is-bare-repository'), 'true');
  await one.stop();
  assert.equal((await two.status('there')).name, 'there');
  await two.stop();
  await supervisor.stop();
  const other = await tcp(`${secret}x`, secret);
  const wrong = other.open();
  await assert.rejects(
    wrong.status('there'),
    (error: GitFailure) => /secret/.test(error.message) && error.kind === 'unavailable',
  );
  await assert.rejects(wrong.repository(placeAt(1, 'there')).stream('blob.read', { id: 'a'.repeat(40) }), {
    kind: 'unavailable',
  });
  await wrong.stop();
  await other.supervisor.stop();
});

it('refuses services of another instance', async () => {
  const { supervisor, open, root } = await tcp(`${secret}zzz`, `${secret}zzz`);
  const own = open();
  const place = placeAt(1, 'there');
  await own.repository(place).ask('repository.create', {});
  const address = (await supervisor.place()).address as { host: string; port: number };
  const storages = [{ name: 'there', path: null, address }];
  const foreign = openGit(parts({ storages, secret: `${secret}zzz`, instance: randomUUID() }));
  const repository = foreign.repository(place);
  const isRefused = (error: GitFailure): boolean =>
    /belongs to another instance/.test(error.message) && error.kind === 'unavailable';
  await assert.rejects(repository.ask('repository.exists', {}), isRefused);
  const stream = await repository.stream('blob.read', { id: 'a'.repeat(40) });
  stream.writable.end();
  await assert.rejects(stream.result, isRefused);
  await assert.rejects(buffer(stream.readable), isRefused);
  await assert.rejects(foreign.repository(placeAt(2, 'there')).ask('repository.create', {}), isRefused);
  assert.deepEqual(await own.repository(place).ask('repository.exists', {}), { exists: true });
  assert.equal(existsSync(join(root, foreign.repository(placeAt(2, 'there')).path)), false);
  await foreign.stop();
  await own.stop();
  await supervisor.stop();
});

it('refuses peers that do not prove knowledge of the secret', async () => {
  const { supervisor } = await tcp(`${secret}yy`, secret);
  const { address } = await supervisor.place();
  const frame = (header: object): Buffer => {
    const text = Buffer.from(JSON.stringify(header));
    const head = Buffer.alloc(8);
    head.writeUInt32BE(text.length, 0);
    return Buffer.concat([head, text]);
  };
  const call = { id: 1, method: 'storage.hello', params: { version: 1 } };
  const socket = connect(address as { host: string; port: number });
  socket.write(Buffer.concat([frame({ nonce: 'n', proof: 'f'.repeat(64) }), frame(call)]));
  const said = (await buffer(socket)).toString('latin1');
  assert.match(said, /refused/);
  assert.doesNotMatch(said, /result|"proof"/);
  await supervisor.stop();
});

it('does not tell its secret, nor ask anything of one who does not know it', async () => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    const text = Buffer.from(JSON.stringify({ nonce: 'n' }));
    const head = Buffer.alloc(8);
    head.writeUInt32BE(text.length, 0);
    socket.write(Buffer.concat([head, text]));
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      const proof = Buffer.from(JSON.stringify({ proof: 'f'.repeat(64) }));
      const frame = Buffer.alloc(8);
      frame.writeUInt32BE(proof.length, 0);
      socket.write(Buffer.concat([frame, proof]));
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const fooled = openGit(
    parts({ storages: [{ name: 'there', path: null, address: { host: '127.0.0.1', port } }], secret }),
  );
  await assert.rejects(fooled.status('there'), { kind: 'unavailable' });
  const text = Buffer.concat(received).toString('latin1');
  assert.ok(!text.includes(secret) && !text.includes('storage.hello'), text);
  await fooled.stop();
  server.close();
});

it('fails calls of a storage that nobody keeps', async () => {
  const gone = openGit(
    parts({ storages: [{ name: 'there', path: null, address: { host: '127.0.0.1', port: 1 } }], secret }),
  );
  await assert.rejects(gone.status('there'), { kind: 'unavailable' });
  await gone.stop();
});
