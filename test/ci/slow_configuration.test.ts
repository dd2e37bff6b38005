/** A configuration that is slow to read delays only the pipelines of its own project. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type Pushed, seedPushed } from '../support/ci/pipelines.ts';
import { openRequest, readRequest, seedBranch } from '../support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A server that answers nothing until it is opened. */
const opened = Promise.withResolvers<void>();
let asked = 0;
const server = createServer((_request, response) => {
  asked += 1;
  void opened.promise.then(() => response.end('slow: { script: x }\n'));
});
const own = 'own: { script: x }\n';

let gantry: TestService;
let slow: Pushed;
let other: Pushed;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gantry = await startTestService({ GANTRY_CI_INCLUDE_ORIGINS: origin });
  [slow, other] = [await seedPushed(gantry), await seedPushed(gantry)];
  await slow.push({ 'README.md': 'Slow\n' });
  await seedCommit(gantry, slow.id, { '.gitlab-ci.yml': `include: "${origin}/slow.yml"\n${own}` });
  await until('the configuration is requested', () => asked === 1);
});
after(async () => {
  opened.resolve();
  await gantry.close();
  server.close().closeAllConnections();
});

test('creates pipelines of other projects meanwhile', async () => {
  await seedCommit(gantry, other.id, { '.gitlab-ci.yml': own });
  await until('the other pipeline exists', async () => (await other.pipelines()).length === 1);
  assert.deepEqual(await slow.pipelines(), []);
});

test('updates merge requests after pushes meanwhile, also in the same project', async () => {
  await seedBranch(gantry, slow, 'topic', { files: { '.gitlab-ci.yml': own } });
  const request = await openRequest(gantry, slow, 'topic');
  const sha = await seedCommit(gantry, slow.id, { 'b.txt': 'b\n' }, { branch: 'topic' });
  await until(
    'the merge request has the commit',
    async () => (await readRequest(gantry, request)).sha === sha,
  );
  assert.deepEqual(await slow.pipelines(), []);
});

test('creates the pipelines of the same project afterwards, in the order of the pushes', async () => {
  opened.resolve();
  await gantry.service.worker.drain();
  const pipelines = await slow.pipelines('sort=asc');
  assert.deepEqual(
    pipelines.map(({ ref }) => ref),
    ['main', 'topic', 'topic'],
  );
  assert.deepEqual((await slow.jobs(pipelines[0].id)).toSorted(), ['own', 'slow']);
});
