/** Integrations with chats, which are hooks with a format. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
before(async () => {
  [gantry, receiver] = [await startTestService(), await startHookReceiver()];
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const send = async (line: string, json?: object, as?: string) =>
  await gantry.api(line, { ...(json && { json }), ...(as !== undefined && { as }) });

const webhookOf = (slug: string): string => `${receiver.url}/${slug}`;

test('sends messages to each chat, in its format', async () => {
  const { id } = await seedProject(gantry);
  for (const slug of ['slack', 'mattermost', 'microsoft-teams', 'discord']) {
    const made = await send(`PUT /projects/${id}/integrations/${slug}`, { webhook: webhookOf(slug) });
    assert.equal(made.status, 200, made.text);
  }
  receiver.clear();
  await send(`POST /projects/${id}/issues`, { title: 'One' });
  await gantry.service.worker.drain();
  const bodies = new Map(receiver.received.map(({ path, body }) => [path, body]));
  assert.deepEqual([...bodies.keys()].toSorted(), [
    '/discord/slack',
    '/mattermost',
    '/microsoft-teams',
    '/slack',
  ]);
  for (const path of ['/discord/slack', '/mattermost', '/slack'])
    assert.match(bodies.get(path).text, /opened issue <http\S+\|#1 One>/);
  assert.equal(bodies.get('/microsoft-teams').type, 'message');
  const listed = await send(`GET /projects/${id}/services`);
  assert.deepEqual(
    listed.body.map(({ slug }: { slug: string }) => slug),
    ['slack', 'mattermost', 'microsoft-teams', 'discord'],
  );
});

test('is set, edited and deleted', async () => {
  const { id } = await seedProject(gantry);
  const path = `/projects/${id}/services/slack`;
  assert.deepEqual((await send(`GET ${path}`)).body, { message: '404 Integration Not Found' });
  const missing = await send(`PUT ${path}`, { push_events: true });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "webhook" not given']);
  assert.equal((await send(`PUT ${path}`, { webhook: 'nowhere' })).status, 422);
  const json = { webhook: webhookOf('slack'), channel: '#x', pipeline_events: true, note_events: false };
  const made = await send(`PUT ${path}`, json);
  assert.equal(made.headers.get('gantry-ignored-parameters'), 'channel');
  assert.deepEqual(made.body, {
    id: made.body.id,
    title: 'Slack notifications',
    slug: 'slack',
    created_at: made.body.created_at,
    updated_at: made.body.updated_at,
    active: true,
    push_events: true,
    issues_events: true,
    confidential_issues_events: false,
    merge_requests_events: true,
    tag_push_events: true,
    note_events: false,
    confidential_note_events: false,
    pipeline_events: true,
    job_events: false,
    wiki_page_events: true,
    deployment_events: false,
    properties: {
      username: null,
      channel: null,
      notify_only_broken_pipelines: false,
      branches_to_be_notified: 'all',
    },
  });
  assert.deepEqual((await send(`GET /projects/${id}/integrations/slack`)).body, made.body);
  const [hook, ...others] = (await send(`GET /projects/${id}/hooks`)).body;
  assert.deepEqual(
    [others, hook.id, hook.name, hook.format, hook.url],
    [[], made.body.id, 'Slack notifications', 'slack', webhookOf('slack')],
  );
  const changed = await send(`PUT ${path}`, { issues_events: false, webhook: webhookOf('other') });
  assert.deepEqual(
    [changed.body.id, changed.body.issues_events, changed.body.pipeline_events],
    [made.body.id, false, true],
  );
  assert.equal((await send(`GET /projects/${id}/hooks/${hook.id}`)).body.url, webhookOf('other'));
  const inactive = await send(`PUT ${path}`, { active: false });
  assert.equal(inactive.status, 400);
  assert.equal((await send(`DELETE ${path}`)).status, 204);
  assert.deepEqual((await send(`GET /projects/${id}/hooks`)).body, []);
  for (const method of ['GET', 'DELETE']) assert.equal((await send(`${method} ${path}`)).status, 404);
});

test('exists once, also under concurrent requests', async () => {
  const { id } = await seedProject(gantry);
  const json = { webhook: webhookOf('slack') };
  const answers = await Promise.all(
    [1, 2, 3].map(async () => await send(`PUT /projects/${id}/integrations/slack`, json)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await send(`GET /projects/${id}/hooks`)).body.length, 1);
});

test('needs the role of a maintainer', async () => {
  const developer = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  await seedMember(gantry, { user: developer.id, project: id, access_level: 30 });
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const line = `${method} /projects/${id}/integrations/discord`;
    assert.equal((await send(line, { webhook: webhookOf('x') }, developer.token)).status, 403, line);
  }
});
