/** The administrators' list of webhooks that fail. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type HookReceiver,
  startHookReceiver,
} from '../../../../../../test/support/servers/hook_receiver.ts';
import { seedGroup, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { contentIn } from '../../../../../../test/support/visitor.ts';

const path = '/admin/failing_webhooks';

let gantry: TestService;
let receiver: HookReceiver;
let admin: SeededVisitor;
let project: { id: number; full_path: string };
let group: { id: number; full_path: string };
/** Ids of a hook of the project, of the group and of the instance. */
let hooks: number[];

const addHook = async (place: string, flag: string): Promise<number> => {
  const json = { url: `${receiver.url}/${flag}`, push_events: false, [flag]: true };
  const { status, body, text } = await gantry.api(`POST ${place}/hooks`, { json });
  assert.equal(status, 201, text);
  return body.id;
};

const deliverIssue = async (): Promise<void> => {
  await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'Loads' } });
  await gantry.service.worker.drain();
};

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  admin = await seedVisitor(gantry, { admin: 1 });
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  hooks = [
    await addHook(`/projects/${project.id}`, 'issues_events'),
    await addHook(`/groups/${group.id}`, 'issues_events'),
    await addHook('', 'push_events'),
  ];
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const list = async (query = ''): Promise<string> => {
  const seen = await admin.visitor.get(path + query);
  assert.equal(seen.status, 200, seen.text);
  return contentIn(seen);
};

test('lists failing webhooks of projects and groups with owner, time and answer, until they succeed', async () => {
  assert.match(await list(), /No failing webhooks/);
  receiver.answer((_one, response) => void response.writeHead(503).end());
  const start = gantry.service.platform.clock.now();
  gantry.setTime(start);
  await deliverIssue();
  const text = await list();
  assert.match(text, /2 failing webhooks/);
  assert.ok(text.includes(`href="/${project.full_path}/-/hooks/${hooks[0]}"`));
  assert.ok(text.includes(`href="/groups/${group.full_path}/-/hooks/${hooks[1]}"`));
  assert.doesNotMatch(text, /\/admin\/hooks\/\d/);
  assert.match(text, /1 failure in a row[^]*503 Service Unavailable/);
  const since = `Failing since <time datetime="${new Date(start).toISOString()}"`;
  assert.ok(text.includes(since), text);
  gantry.setTime(start + 120_000);
  await gantry.service.worker.drain();
  const again = await list();
  assert.match(again, /2 failures in a row/);
  assert.ok(again.includes(since));
  receiver.clear();
  const resumed = await admin.visitor.post(`/${project.full_path}/-/hooks/${hooks[0]}/resume`);
  assert.equal(resumed.location, `/${project.full_path}/-/hooks/${hooks[0]}`);
  assert.match(await list(), /1 failing webhook</);
  gantry.setTime(start + 240_000);
  await gantry.service.worker.drain();
  assert.match(await list(), /No failing webhooks/);
  gantry.setTime(null);
});

test('shows system hooks, unknown times, and one page of many', async () => {
  const setFailures = async (failures: number) =>
    await gantry.service.platform.store.write(
      async ({ db }) => await db.updateTable('hooks').set({ failures, failing_since: null }).execute(),
    );
  await setFailures(7);
  const text = await list('?per_page=2');
  assert.match(text, /3 failing webhooks[^]*7 failures in a row/);
  assert.doesNotMatch(text, /Failing since/);
  assert.equal(text.match(/failures in a row/g)?.length, 2);
  const next = await list('?per_page=2&page=2');
  assert.ok(next.includes(`href="/admin/hooks/${hooks[2]}"`) && next.includes('System hook'));
  await setFailures(0);
});

test('leaves out hooks of projects and groups that are being removed', async () => {
  const { store } = gantry.service.platform;
  const doomed = await seedGroup(gantry);
  const { id } = await seedProject(gantry, { namespace: doomed.id });
  const ids = [
    await addHook(`/projects/${id}`, 'issues_events'),
    await addHook(`/groups/${doomed.id}`, 'issues_events'),
  ];
  const setFailures = async (failures: number) =>
    await store.write(
      async ({ db }) => await db.updateTable('hooks').set({ failures }).where('id', 'in', ids).execute(),
    );
  const remove = async (table: 'projects' | 'namespaces', owner: number) =>
    await store.write(
      async ({ db }) => await db.updateTable(table).set({ deleted_at: 1 }).where('id', '=', owner).execute(),
    );
  await setFailures(3);
  assert.match(await list(), /2 failing webhooks/);
  await remove('projects', id);
  assert.match(await list(), /1 failing webhook</);
  await remove('namespaces', doomed.id);
  assert.match(await list(), /No failing webhooks/);
  await setFailures(0);
});

test('only administrators open the page of failing webhooks', async () => {
  const { visitor } = await seedVisitor(gantry, { group: group.id, access_level: 50 });
  assert.equal((await visitor.get(path)).status, (await visitor.get('/admin/mail')).status);
  assert.notEqual((await visitor.get(path)).status, 200);
});
