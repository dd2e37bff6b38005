/** Tests that diffs say how large binary files are. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform, pipeline } from 'node:stream';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { type SeededProject, seedProject } from '../../../../../../test/support/seed.ts';
import { openRequest, settle } from '../../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { superviseGitd } from '../../../../../platform/git/supervise_gitd.ts';
import type { Visitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: Visitor;
let project: SeededProject;
let pages: Record<'commit' | 'comparison' | 'merge request', string>;

const bytes = (count: number): string => '\0'.repeat(count);

before(async () => {
  gantry = await startTestService();
  ({ visitor: user } = await seedVisitor(gantry));
  project = await seedProject(gantry);
  const first = { 'grown.bin': bytes(12 * 1024), 'gone.bin': bytes(700), 'shown.png': bytes(2048) };
  await seedCommit(gantry, project.id, first);
  const commit = await seedCommit(
    gantry,
    project.id,
    {
      'grown.bin': bytes(14 * 1024 + 512),
      'gone.bin': null,
      'added.bin': bytes(1),
      'shown.png': bytes(3072),
    },
    { branch: 'topic', from: 'main' },
  );
  const request = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  pages = {
    commit: `commit/${commit}`,
    comparison: 'compare/main...topic',
    'merge request': `merge_requests/${request.iid}/diffs`,
  };
});
after(async () => await gantry.close());

/** Returns the text of a file's card. */
const cardOf = (text: string, path: string): string => {
  const start = text.indexOf(`aria-label="${path}" data-path="${path}"`);
  assert.ok(start >= 0, `no card of ${path}`);
  return text.slice(start, text.indexOf('</section>', start));
};

for (const name of ['commit', 'comparison', 'merge request'] as const) {
  test(`the diff of a ${name} shows the sizes of binary files`, async () => {
    const { text } = await user.get(`/${project.full_path}/${pages[name]}`);
    assert.match(cardOf(text, 'grown.bin'), /Binary, 12 KiB → 14\.5 KiB </);
    assert.match(cardOf(text, 'gone.bin'), /Binary, 700 bytes </);
    assert.match(cardOf(text, 'added.bin'), /Binary, 1 byte </);
    const image = cardOf(text, 'shown.png');
    assert.match(image, /<figcaption>Before, 2 KiB<[^]+<figcaption>After, 3 KiB</);
  });
}

/** Starts a storage that does not know the call which reads sizes: its name is changed on the way. */
const startOldStorage = async () => {
  const root = await mkdtemp(join(tmpdir(), 'gantry-old-storage-'));
  const secret = 's'.repeat(32);
  const supervisor = superviseGitd(
    { root, listen: { host: '127.0.0.1', port: 0 }, secret, onLine: () => undefined },
    () => randomBytes(6).toString('hex'),
  );
  const { address } = await supervisor.place();
  const { port } = address as { port: number };
  const rename = () =>
    new Transform({
      transform: (chunk: Buffer, _encoding, done) =>
        done(null, Buffer.from(chunk.toString('latin1').replace('"blob.sizes"', '"blob.other"'), 'latin1')),
    });
  const proxy = createServer((client) => {
    const storage = connect(port, '127.0.0.1');
    pipeline(client, rename(), storage, () => client.destroy());
    pipeline(storage, client, () => storage.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const { port: proxyPort } = proxy.address() as AddressInfo;
  return {
    environment: {
      GANTRY_REPOSITORY_STORAGES: `default=tcp://127.0.0.1:${proxyPort}`,
      GANTRY_GITD_SECRET: secret,
    },
    stop: async () => {
      proxy.close();
      await supervisor.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
};

test('a diff on a storage that cannot tell sizes shows binary files without them', async () => {
  const storage = await startOldStorage();
  const service = await startTestService(storage.environment);
  const { visitor } = await seedVisitor(service);
  const { id, full_path } = await seedProject(service);
  const commit = await seedCommit(service, id, { 'added.bin': bytes(700) });
  const { status, text } = await visitor.get(`/${full_path}/commit/${commit}`);
  assert.equal(status, 200);
  assert.match(cardOf(text, 'added.bin'), /Binary file\./);
  await service.close();
  await storage.stop();
});
