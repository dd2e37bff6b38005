/** Deliveries of hooks: headers, order, retries, pauses, and who receives what. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedGroup, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.clear();
  gantry.setTime(null);
});

const drain = async (): Promise<void> => await gantry.service.worker.drain();

/** A project with a hook. */
const withHook = async (hook: object): Promise<{ project: string; hook: string; id: number }> => {
  const { id } = await seedProject(gantry);
  const project = `/projects/${id}`;
  const json = { url: receiver.url, push_events: false, ...hook };
  const made = await gantry.api(`POST ${project}/hooks`, { json });
  assert.equal(made.status, 201, made.text);
  return { project, hook: `${project}/hooks/${made.body.id}`, id };
};

const addIssue = async (project: string, json: object): Promise<number> => {
  const { status, body, text } = await gantry.api(`POST ${project}/issues`, { json });
  assert.equal(status, 201, text);
  return body.iid;
};

const titlesInOrder = (): string[] =>
  receiver.received
    .map(({ body }): string => body.object_attributes?.title ?? body.event_name)
    .toSorted((a, b) => (a < b ? -1 : 1));

const sent = (): [string, string][] =>
  receiver.received.map(({ headers, body }) => [
    headers['x-gitlab-event'] ?? '',
    body.object_attributes?.action ?? body.event_name,
  ]);

describe('a delivery', () => {
  it('is made although the clock was set back since its cause', async () => {
    const { project } = await withHook({ issues_events: true });
    const held = Promise.withResolvers<ServerResponse>();
    receiver.answer((_request, response) => {
      if (receiver.received.length === 1) held.resolve(response);
      else response.end();
    });
    gantry.setTime(Date.now() + 3_600_000);
    const iid = await addIssue(project, { title: 'First' });
    const response = await held.promise;
    const { status } = await gantry.api(`PUT ${project}/issues/${iid}`, { json: { title: 'Second' } });
    assert.equal(status, 200);
    gantry.setTime(null);
    response.end();
    await drain();
    assert.deepEqual(titlesInOrder(), ['First', 'Second']);
  });

  it('has all headers, the signature, and the same body that is signed', async () => {
    const { project, hook } = await withHook({
      issues_events: true,
      token: 'sécret',
      url: `${receiver.url}/a/b?c=d`,
    });
    await addIssue(project, { title: 'First' });
    await drain();
    const [one] = receiver.received;
    assert.ok(one);
    const { headers, text, path } = one;
    assert.equal(path, '/a/b?c=d');
    const id = headers['webhook-id'] ?? '';
    assert.equal(headers['content-type'], 'application/json');
    assert.match(headers['user-agent'] ?? '', /^Gantry\/\d/);
    assert.equal(headers['x-gitlab-event'], 'Issue Hook');
    assert.equal(Buffer.from(headers['x-gitlab-token'] ?? '', 'latin1').toString(), 'sécret');
    assert.equal(headers['x-gitlab-instance'], gantry.url);
    assert.match(headers['x-gitlab-event-uuid'] ?? '', /^[0-9a-f-]{36}$/);
    assert.match(headers['x-gitlab-webhook-uuid'] ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(headers['idempotency-key'], id);
    const signed = `${id}.${headers['webhook-timestamp']}.${text}`;
    const signature = createHmac('sha256', 'sécret').update(signed).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${signature}`);
    assert.equal((await gantry.api(`GET ${hook}`)).body.alert_status, 'executable');
  });

  it('has the custom headers, URL variables and template of the hook', async () => {
    const { project } = await withHook({
      issues_events: true,
      url: `${receiver.url}/{path}`,
      url_variables: [{ key: 'path', value: 'x/y' }],
      custom_headers: [{ key: 'X-Key', value: 'z' }],
      custom_webhook_template:
        '{"t": "{{object_attributes.title}}!", "n": {{object_attributes.iid}}, "m": "{{no.such}}"}',
    });
    await addIssue(project, { title: 'With "quotes"' });
    await drain();
    const [{ path, headers, body } = { path: '', headers: {}, body: null }] = receiver.received;
    assert.deepEqual([path, (headers as Record<string, string>)['x-key']], ['/x/y', 'z']);
    assert.deepEqual(body, { t: 'With "quotes"!', n: 1, m: '' });
  });

  it('shows the record as the change left it', async () => {
    const { project } = await withHook({ issues_events: true });
    const iid = await addIssue(project, { title: 'One', description: 'a', labels: 'x' });
    await gantry.api(`PUT ${project}/issues/${iid}`, {
      json: { title: 'Two', description: 'b', labels: 'y' },
    });
    await gantry.api(`PUT ${project}/issues/${iid}`, { json: { state_event: 'close' } });
    await drain();
    assert.deepEqual(sent(), [
      ['Issue Hook', 'open'],
      ['Issue Hook', 'update'],
      ['Issue Hook', 'close'],
    ]);
    const [open, update, close] = receiver.received.map(({ body }) => body);
    assert.deepEqual([open.object_attributes.title, open.object_attributes.state], ['One', 'opened']);
    assert.deepEqual(
      open.labels.map(({ title }: { title: string }) => title),
      ['x'],
    );
    assert.deepEqual(update.changes.title, { previous: 'One', current: 'Two' });
    assert.deepEqual(update.changes.description, { previous: 'a', current: 'b' });
    assert.equal(update.changes.labels.current[0].title, 'y');
    assert.deepEqual(close.changes.state_id, { previous: 1, current: 2 });
    assert.equal(close.object_attributes.state, 'closed');
  });
});

describe('a failed delivery', () => {
  const nextAttempts = async (): Promise<number[]> => {
    const rows = await gantry.service.platform.store.db
      .selectFrom('hook_deliveries')
      .select('next_attempt_at')
      .orderBy('id')
      .execute();
    return rows.map(({ next_attempt_at }) => next_attempt_at);
  };

  it('is repeated with the same id, and holds back later ones of its target only', async () => {
    const { project, hook } = await withHook({ issues_events: true });
    let start = Date.now() + 1_000;
    gantry.setTime(start);
    receiver.answer((_request, response) => void response.writeHead(500).end('no'));
    const iid = await addIssue(project, { title: 'One' });
    await drain();
    await gantry.api(`PUT ${project}/issues/${iid}`, { json: { title: 'Two' } });
    await addIssue(project, { title: 'Other' });
    await drain();
    assert.deepEqual(
      receiver.received.map(({ body }) => body.object_attributes.title),
      ['One', 'Other'],
    );
    receiver.received.length = 0;
    for (const pause of [1, 5, 15, 60]) {
      const { alert_status } = (await gantry.api(`GET ${hook}`)).body;
      if (alert_status !== 'executable') break;
      start += pause * 1_000;
      gantry.setTime(start);
      await drain();
    }
    const paused = (await gantry.api(`GET ${hook}`)).body;
    assert.equal(paused.alert_status, 'temporarily_disabled');
    assert.match(paused.disabled_until, /^\d{4}-/);
    const before = receiver.received.length;
    await drain();
    assert.equal(receiver.received.length, before, 'a paused hook sends nothing');
    receiver.clear();
    gantry.setTime(Math.max(Date.parse(paused.disabled_until), ...(await nextAttempts())));
    await drain();
    assert.deepEqual(titlesInOrder(), ['One', 'Other', 'Two']);
    const titles = receiver.received.map(({ body }) => body.object_attributes.title);
    assert.ok(titles.indexOf('One') < titles.indexOf('Two'));
    assert.equal((await gantry.api(`GET ${hook}`)).body.alert_status, 'executable');
    assert.deepEqual(await nextAttempts(), []);
    const left = await gantry.service.platform.store.db.selectFrom('hook_events').select('id').execute();
    assert.deepEqual(left, []);
  });

  it('is repeated although the clock was set back since its last attempt', async () => {
    const { project } = await withHook({ issues_events: true });
    const start = Date.now() + 1_000;
    gantry.setTime(start);
    receiver.answer((_request, response) => void response.writeHead(500).end('no'));
    await addIssue(project, { title: 'One' });
    await drain();
    receiver.clear();
    gantry.setTime(start - 3_600_000);
    await drain();
    assert.deepEqual(titlesInOrder(), ['One']);
    assert.deepEqual(await nextAttempts(), []);
  });

  it('is dropped after seven days, and the next one of its target follows', async () => {
    const { project } = await withHook({ issues_events: true });
    const start = Date.now() + 1_000;
    const weekLater = start + 7 * 86_400_000;
    gantry.setTime(start);
    receiver.answer((_request, response) => void response.writeHead(500).end('no'));
    const iid = await addIssue(project, { title: 'Old' });
    await drain();
    gantry.setTime(weekLater);
    await drain();
    assert.equal((await nextAttempts()).length, 1, 'at seven days it is still kept');
    await gantry.api(`PUT ${project}/issues/${iid}`, { json: { title: 'New' } });
    gantry.setTime(weekLater + 5_001);
    await drain();
    assert.equal((await nextAttempts()).length, 1);
    receiver.clear();
    gantry.setTime(weekLater + 70_000); // after the pause of the hook
    await drain();
    assert.deepEqual(titlesInOrder(), ['New']);
    assert.deepEqual(await nextAttempts(), []);
  });

  it('a repeated delivery keeps its ids', async () => {
    const { project } = await withHook({ issues_events: true });
    const start = Date.now() + 100_000;
    gantry.setTime(start);
    receiver.answer((_request, response) => void response.writeHead(302, { location: receiver.url }).end());
    await addIssue(project, { title: 'One' });
    await drain();
    receiver.answer((_request, response) => void response.end());
    gantry.setTime(start + 1_000);
    await drain();
    const ids = receiver.received.map(({ headers }) => [
      headers['webhook-id'],
      headers['idempotency-key'],
      headers['x-gitlab-event-uuid'],
    ]);
    assert.equal(ids.length, 2, 'redirects are not followed, and are failures');
    assert.deepEqual(ids[0], ids[1]);
  });
});

describe('confidential issues', () => {
  it('confidential issues reach only hooks that ask for them', async () => {
    const { project } = await withHook({ issues_events: true, note_events: true, emoji_events: true });
    const iid = await addIssue(project, { title: 'Hidden', confidential: true });
    await gantry.api(`POST ${project}/issues/${iid}/notes`, { json: { body: 'secret' } });
    await gantry.api(`POST ${project}/issues/${iid}/award_emoji`, { json: { name: 'rocket' } });
    await drain();
    assert.deepEqual(sent(), []);
    const json = {
      url: `${receiver.url}/all`,
      push_events: false,
      confidential_issues_events: true,
      confidential_note_events: true,
    };
    await gantry.api(`POST ${project}/hooks`, { json });
    await gantry.api(`PUT ${project}/issues/${iid}`, { json: { title: 'Hidden again' } });
    await gantry.api(`POST ${project}/issues/${iid}/notes`, { json: { body: 'secret' } });
    await drain();
    assert.deepEqual(sent(), [
      ['Confidential Issue Hook', 'update'],
      ['Confidential Note Hook', 'create'],
    ]);
    assert.deepEqual(
      receiver.received.map(({ path, body }) => [path, body.event_type]),
      [
        ['/all', 'confidential_issue'],
        ['/all', 'confidential_note'],
      ],
    );
  });

  it('do not show their former texts when they become public', async () => {
    const { project } = await withHook({ issues_events: true });
    const iid = await addIssue(project, {
      title: 'Secret name',
      description: 'Secret text',
      confidential: true,
    });
    await gantry.api(`PUT ${project}/issues/${iid}`, {
      json: { confidential: false, title: 'Plain', description: 'Open' },
    });
    await drain();
    const [{ text, body } = { text: '', body: {} }] = receiver.received;
    assert.equal(receiver.received.length, 1);
    assert.doesNotMatch(text, /Secret/);
    assert.deepEqual(body.changes.confidential, { previous: true, current: false });
  });
});

describe('hooks of groups and of the instance', () => {
  it('receive the changes of projects below the group, and of its members', async () => {
    const [top, other] = [await seedGroup(gantry), await seedGroup(gantry)];
    const sub = await seedGroup(gantry, { parent: top.id });
    const json = { url: receiver.url, issues_events: true, member_events: true };
    await gantry.api(`POST /groups/${top.id}/hooks`, { json });
    for (const group of [sub, other]) {
      const { id } = await seedProject(gantry, { namespace: group.id });
      await addIssue(`/projects/${id}`, { title: `In ${group.path}` });
    }
    const username = `member-${top.id}`;
    const user = { username, name: 'M', email: `${username}@example.com`, password: 'correct horse battery' };
    const { id: user_id } = (await gantry.api('POST /users', { json: user })).body;
    await gantry.api(`POST /groups/${top.id}/members`, { json: { user_id, access_level: 30 } });
    await drain();
    assert.deepEqual(titlesInOrder(), [`In ${sub.path}`, 'user_add_to_group']);
  });

  it('of the instance receive users, projects, groups and keys', async () => {
    const hook = (await gantry.api('POST /hooks', { json: { url: receiver.url, token: 'x' } })).body;
    const username = `system-${hook.id}`;
    const user = { username, name: 'S', email: `${username}@example.com`, password: 'correct horse battery' };
    const { id } = (await gantry.api('POST /users', { json: user })).body;
    await gantry.api(`PUT /users/${id}`, { json: { username: `${username}-2` } });
    const group = (await gantry.api('POST /groups', { json: { name: username, path: `${username}-g` } }))
      .body;
    const project = (
      await gantry.api('POST /projects', { json: { name: 'p', path: 'p', namespace_id: group.id } })
    ).body;
    await gantry.api(`PUT /projects/${project.id}`, { json: { path: 'q' } });
    await gantry.api(`DELETE /projects/${project.id}`);
    await gantry.api(`DELETE /users/${id}`);
    await drain();
    await gantry.api(`DELETE /hooks/${hook.id}`);
    const events = receiver.received.map(({ body }) => body.event_name);
    for (const name of [
      'user_create',
      'user_rename',
      'group_create',
      'project_create',
      'project_rename',
      'project_destroy',
      'user_destroy',
    ])
      assert.ok(events.includes(name), `${name} of ${events.join()}`);
    assert.ok(receiver.received.every(({ headers }) => headers['x-gitlab-event'] === 'System Hook'));
    assert.ok(receiver.received.every(({ text }) => !text.includes('password')));
  });

  it('of the instance learn of projects that end with their group or their user', async () => {
    const [top, user] = [await seedGroup(gantry), await seedUser(gantry)];
    const sub = await seedGroup(gantry, { parent: top.id });
    const inGroup = await seedProject(gantry, { namespace: sub.id });
    const json = { name: 'own', path: 'own' };
    const own = (await gantry.api('POST /projects', { as: user.token, json })).body;
    const before = await seedProject(gantry, { namespace: top.id });
    await gantry.api(`DELETE /projects/${before.id}`);
    const hook = (await gantry.api('POST /hooks', { json: { url: receiver.url } })).body;
    await gantry.api(`DELETE /groups/${top.id}`);
    await gantry.api(`DELETE /users/${user.id}`);
    await drain();
    await gantry.api(`DELETE /hooks/${hook.id}`);
    const destroyed = receiver.received.filter(({ body }) => body.event_name === 'project_destroy');
    assert.deepEqual(
      new Map(destroyed.map(({ body }) => [body.project_id, body.path_with_namespace])),
      new Map([
        [inGroup.id, inGroup.full_path],
        [own.id, `${user.username}/own`],
      ]),
    );
    assert.equal(destroyed.length, 2);
  });
});
