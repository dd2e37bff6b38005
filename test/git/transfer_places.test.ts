/** A client that transfers slowly, or not at all, does not block other pushes, fetches and archives. */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import ssh2 from 'ssh2';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, type SeededUser, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

/** At least as many as there are transfer slots. */
const many = 24;
const zero = '0'.repeat(40);

let gantry: TestService;
let tree: WorkTree;
let project: SeededProject;
let attacker: SeededUser;
let other: SeededUser;
let large: string;
const open: (() => void)[] = [];

before(async () => {
  gantry = await startTestService({ GANTRY_SSH_LISTEN: '127.0.0.1:0', GANTRY_FETCH_LIMIT: '0' });
  [attacker, other] = [await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry, { owner: other.id });
  await seedMember(gantry, { user: attacker.id, project: project.id, access_level: 30 });
  tree = await newWorkTree();
  await tree.git('config', 'core.compression', '0'); // noise takes longest to compress
  await tree.commit('First', { 'a.txt': 'a\n' });
  const url = repositoryUrl(gantry.url, project.full_path, other.token);
  await tree.git('push', '--quiet', url, 'main');
  // More than all buffers between git and a client that does not read.
  await tree.git('checkout', '--quiet', '-b', 'large');
  large = await tree.commit('Large', { large: randomBytes(8 * 2 ** 20).toString('latin1') });
  await tree.git('push', '--quiet', url, 'large');
});
afterEach(() => {
  for (const close of open.splice(0)) close();
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

/** Uses another address: clients fetch from public projects anonymously. */
const postFetch = (headers: OutgoingHttpHeaders = {}): ClientRequest => {
  const sent = request(`${gantry.url}/${project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    localAddress: '127.0.0.2',
    headers: { 'content-type': 'application/x-git-upload-pack-request', ...headers },
  });
  sent.on('error', () => undefined);
  open.push(() => sent.destroy());
  return sent;
};

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Milliseconds after which all slots would be taken. */
const settled = 1_000;

let branches = 0;

/** Runs a push, an archive and a fetch that no cache answers. */
const transferAsOther = async (): Promise<void> => {
  branches += 1;
  const commit = await tree.git('commit-tree', '-p', 'main', '-m', `Commit ${branches}`, 'main^{tree}');
  const url = repositoryUrl(gantry.url, project.full_path, other.token);
  const pushed = await tryGit(tree.path, ['push', url, `${commit}:refs/heads/branch-${branches}`]);
  assert.equal(pushed.code, 0, pushed.stderr);
  const archive = await gantry.api(`GET /projects/${project.id}/repository/archive.tar?path=a.txt`, {
    as: other.token,
  });
  assert.equal(archive.status, 200);
  const clone = await newWorkTree();
  const fetched = await tryGit(clone.path, ['-c', 'protocol.version=0', 'fetch', url, `branch-${branches}`]);
  assert.equal(fetched.code, 0, fetched.stderr);
  await clone.remove();
};

const fetchOfLarge = (): string => `${line(`want ${large}\n`)}0000${line('done\n')}`;

/** Sends a fetch and returns its answer, which the client begins to read late. */
const fetchLate = async (body: string, headers: OutgoingHttpHeaders): Promise<Buffer> => {
  const response = Promise.withResolvers<IncomingMessage>();
  postFetch(headers).on('response', response.resolve).end(body);
  const incoming = await response.promise;
  await new Promise((done) => setTimeout(done, settled));
  return await buffer(incoming);
};

const assertWhole = (pack: Buffer): void => {
  const trailer = pack.length - 20;
  assert.equal(hash('sha1', pack.subarray(0, trailer)), pack.toString('hex', trailer));
};

/** Returns the data of the first side band of an answer in packets. */
const readBand = (answer: Buffer): Buffer => {
  const data: Buffer[] = [];
  for (let at = 0; at < answer.length;) {
    const length = Math.max(Number.parseInt(answer.toString('latin1', at, at + 4), 16), 4);
    if (answer[at + 4] === 1) data.push(answer.subarray(at + 5, at + length));
    at += length;
  }
  return Buffer.concat(data);
};

test('sends every byte to a client that begins to read late', { timeout: 60_000 }, async () => {
  assertWhole((await fetchLate(fetchOfLarge(), {})).subarray(line('NAK\n').length));
  const command = [line('command=fetch'), '0001', line(`want ${large}\n`), line('done\n'), '0000'];
  assertWhole(readBand(await fetchLate(command.join(''), { 'git-protocol': 'version=2' })));
});

test('serves others during fetches that nobody reads', { timeout: 60_000 }, async () => {
  const wanted = fetchOfLarge();
  const answered = Promise.withResolvers<void>();
  for (let at = 0; at < many; at += 1) {
    postFetch()
      .on('response', (response) => response.once('readable', answered.resolve))
      .end(wanted);
  }
  await answered.promise;
  await new Promise((done) => setTimeout(done, settled));
  await transferAsOther();
});

/** A pack of one blob, up to the first byte of its content. */
const packStart = (): Buffer => {
  const size = 60_000;
  const length = Buffer.alloc(4);
  length.writeUInt16LE(size, 0);
  length.writeUInt16LE(0xffff - size, 2);
  const sizes = [0xb0 | (size & 15), 0x80 | ((size >> 4) & 127), size >> 11];
  return Buffer.concat([
    Buffer.from('PACK\0\0\0\x02\0\0\0\x01'),
    Buffer.from([...sizes, 0x78, 1, 1]),
    length,
  ]);
};

/** Starts SSH sessions that begin a push, and then do the given step. */
const pushesOf = async (user: SeededUser, then: (channel: ssh2.ClientChannel) => void): Promise<void> => {
  const pair = ssh2.utils.generateKeyPairSync('ed25519');
  const json = { title: 'test', key: pair.public };
  assert.equal((await gantry.api('POST /user/keys', { as: user.token, json })).status, 201);
  for (let at = 0; at < many / 8; at += 1) {
    const client = new ssh2.Client();
    open.push(() => client.destroy());
    const ready = Promise.withResolvers<void>();
    client.on('ready', ready.resolve).on('error', ready.reject);
    const port = gantry.service.ssh ?? 0;
    client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: pair.private });
    await ready.promise;
    for (let session = 0; session < 8; session += 1) {
      client.exec(`git-receive-pack '${project.full_path}.git'`, (_error, channel) => {
        channel.on('error', () => undefined).once('data', () => then(channel));
      });
    }
  }
  await new Promise((done) => setTimeout(done, settled));
};

test('serves others during pushes that send a byte now and then', { timeout: 60_000 }, async () => {
  await pushesOf(attacker, (channel) => {
    channel.write(`${line(`${zero} ${large} refs/heads/slow\0report-status`)}0000`);
    channel.write(packStart());
    const timer = setInterval(() => channel.write('a'), 200);
    open.push(() => clearInterval(timer));
  });
  await transferAsOther();
});

test(
  'reserves no slot for pushes that send nothing, not even against their own user',
  { timeout: 60_000 },
  async () => {
    await pushesOf(other, () => undefined);
    await transferAsOther();
  },
);
