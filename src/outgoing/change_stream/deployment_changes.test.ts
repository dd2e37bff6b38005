/** Deployments by jobs and over the API: in the change log, for those who read environments, and sent by webhooks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makePeer, seedRunner } from '../../../test/support/ci/fake_runner.ts';
import { seedPipeline } from '../../../test/support/ci/jobs.ts';
import { type Coded, seedCoded, settle } from '../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../../../test/support/seed.ts';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';
import type { Change } from './list_changes.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: Coded;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  project = await seedCoded(gantry, { visibility: 'public' });
  await settle(gantry);
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const read = async (query = '', as = rootToken): Promise<{ changes: Change[]; next_after: number }> => {
  const { status, body, text } = await gantry.api(`GET /changes?${query}`, { as });
  assert.equal(status, 200, text);
  return body;
};
const deploymentsAmong = (changes: readonly Change[]) =>
  changes
    .filter(({ kind }) => kind === 'deployment')
    .map(({ action, target_type, target_iid, target_id, pipeline_id }) => [
      action,
      target_type,
      target_iid,
      target_id,
      pipeline_id,
    ]);

test('a job that deploys is seen to start and to end', async () => {
  const hook = { url: receiver.url, push_events: false, deployment_events: true };
  await gantry.api(`POST /projects/${project.id}/hooks`, { json: hook });
  const { token } = await seedRunner(gantry);
  const runner = makePeer(gantry, { token });
  const file = 'up: { script: x, environment: { name: live } }';
  const { next_after: from } = await read();
  const pipeline = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
  const job = await runner.take();
  const started = await read(`after=${from}`);
  const [deployment] = (await gantry.api(`GET /projects/${project.id}/deployments`)).body;
  const row = ['status', 'Deployment', deployment.iid, deployment.id, pipeline.id];
  assert.deepEqual(deploymentsAmong(started.changes), [row]);
  await runner.run(job);
  assert.deepEqual(deploymentsAmong((await read(`after=${started.next_after}`)).changes), [row]);
  await settle(gantry);
  const sent = receiver.received.map(({ body }) => [body.object_kind, body.status, body.deployment_id]);
  assert.deepEqual(sent, [
    ['deployment', 'running', deployment.id],
    ['deployment', 'success', deployment.id],
  ]);
});

test('deployments of external programs are seen, by those who read environments', async () => {
  const { next_after: from } = await read();
  const { body } = await gantry.api(`POST /projects/${project.id}/deployments`, {
    json: { environment: 'hand', sha: project.first, ref: 'main', tag: false, status: 'running' },
  });
  await gantry.api(`PUT /projects/${project.id}/deployments/${body.id}`, { json: { status: 'success' } });
  const rows = [
    ['created', 'Deployment', body.iid, body.id, null],
    ['updated', 'Deployment', body.iid, body.id, null],
  ];
  assert.deepEqual(deploymentsAmong((await read(`after=${from}`)).changes), rows);
  for (const [level, sees] of [
    [0, false],
    [10, false],
    [20, true],
  ] as const) {
    const user = await seedUser(gantry);
    if (level > 0) await seedMember(gantry, { user: user.id, project: project.id, access_level: level });
    const list = await gantry.api(`GET /projects/${project.id}/deployments`, { as: user.token });
    assert.equal(list.status === 200, sees, String(level));
    const seen = deploymentsAmong((await read(`after=${from}`, user.token)).changes);
    assert.deepEqual(seen, sees ? rows : [], String(level));
  }
});
