/** Tests the pages of hooks of a project, a group and the instance. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../../../test/support/servers/hook_receiver.ts';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../test/support/visitor.ts';
import { unsealHook } from '../../../../outgoing/hooks/secrets.ts';

const password = 'correct horse';
let gantry: TestService;
let receiver: HookReceiver;
let project: { id: number; full_path: string };
let developer: Visitor;
let places: { path: string; api: string; who: Visitor; scope: 'project' | 'group' | 'instance' }[];

const someone = async (group: number, level: number | null): Promise<Visitor> => {
  const username = unique('user');
  const json = {
    username,
    name: 'A User',
    email: `${username}@example.com`,
    password,
    admin: level === null,
  };
  const { body } = await gantry.api('POST /users', { json });
  if (level !== null) await seedMember(gantry, { user: body.id, group, access_level: level });
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  await visitor.get('/profile');
  return visitor;
};

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  await gantry.api('PUT /application/settings', {
    json: { allow_local_requests_from_hooks_and_services: true },
  });
  const group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const [owner, admin] = [await someone(group.id, 50), await someone(group.id, null)];
  developer = await someone(group.id, 30);
  places = [
    {
      path: `/${project.full_path}/-/hooks`,
      api: `/projects/${project.id}/hooks`,
      who: owner,
      scope: 'project',
    },
    {
      path: `/groups/${group.full_path}/-/hooks`,
      api: `/groups/${group.id}/hooks`,
      who: owner,
      scope: 'group',
    },
    { path: '/admin/hooks', api: '/hooks', who: admin, scope: 'instance' },
  ];
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const projectPlace = () => {
  const [place] = places;
  assert.ok(place !== undefined);
  return place;
};

const load = async (id: number) => {
  const { store } = gantry.service.platform;
  const row = await store.db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return { row, secrets: unsealHook(gantry.service.platform, row) };
};

const lastId = async (api: string): Promise<number> => (await gantry.api(`GET ${api}`)).body.at(-1).id;

test('adds, edits and deletes a hook, in each place', async () => {
  for (const { path, api, who, scope } of places) {
    assert.match((await who.get(path)).text, scope === 'instance' ? /No system hooks/ : /No webhooks/);
    assert.equal((await who.get(`${path}/new`)).status, 200);
    const flag = scope === 'instance' ? 'merge_requests_events' : 'issues_events';
    const added = await who.post(path, {
      url: 'https://hooks.example.com/<b>',
      name: 'Builds <i>',
      [flag]: '1',
      push_events: '0',
      token: 'open sesame',
      branch_filter_strategy: 'wildcard',
      push_events_branch_filter: 'release/*',
      enable_ssl_verification: '1',
      format: 'slack',
    });
    const id = await lastId(api);
    assert.deepEqual([added.status, added.location], [303, `${path}/${id}`]);
    const { body } = await gantry.api(`GET ${api}/${id}`);
    assert.deepEqual(
      [body.name, body[flag], body.push_events, body.push_events_branch_filter, body.format],
      ['Builds <i>', true, false, 'release/*', 'slack'],
    );
    assert.match((await who.get(path)).text, /Builds &lt;i&gt;[\s\S]*No deliveries yet[\s\S]*Active/);
    const shown = await who.get(`${path}/${id}`);
    assert.match(
      shown.text,
      /hooks\.example\.com\/\[hidden\][\s\S]*Pattern <code>release\/\*<\/code>[\s\S]*Stored/,
    );
    const saved = await who.post(`${path}/${id}`, {
      url: 'https://hooks.example.com/2',
      [flag]: '0',
      push_events: '1',
    });
    assert.equal(saved.location, `${path}/${id}`);
    const changed = (await gantry.api(`GET ${api}/${id}`)).body;
    assert.deepEqual(
      [changed.url, changed.name, changed[flag], changed.push_events, changed.push_events_branch_filter],
      ['https://hooks.example.com/2', null, false, true, null],
    );
    assert.equal((await load(id)).secrets.token, 'open sesame');
    assert.equal((await who.post(`${path}/${id}/delete`)).location, path);
    assert.equal((await gantry.api(`GET ${api}/${id}`)).status, 404);
    assert.equal((await who.get(`${path}/${id}`)).status, 404);
  }
});

test('never shows a secret, keeps it where the field is empty, and removes it where asked', async () => {
  const { path, api, who } = projectPlace();
  const form = {
    url: 'https://hooks.example.com/{path}',
    token: 'sesame-1',
    signing_token: 'sesame-2',
    'custom_headers[0][key]': 'X-Key',
    'custom_headers[0][value]': 'sesame-3',
    'url_variables[0][key]': 'path',
    'url_variables[0][value]': 'sesame-4',
  };
  await who.post(path, form);
  const id = await lastId(api);
  for (const page of [path, `${path}/${id}`, `${path}/${id}/edit`])
    assert.doesNotMatch((await who.get(page)).text, /sesame/, page);
  const kept = {
    url: form.url,
    'custom_headers[0][key]': 'X-Key',
    'custom_headers[0][stored]': '1',
    'custom_headers[0][value]': '',
    'url_variables[0][key]': 'path',
    'url_variables[0][stored]': '1',
    'url_variables[0][value]': '',
  };
  await who.post(`${path}/${id}`, kept);
  assert.deepEqual((await load(id)).secrets, {
    token: 'sesame-1',
    signingToken: 'sesame-2',
    headers: { 'X-Key': 'sesame-3' },
    urlVariables: { path: 'sesame-4' },
  });
  const moved = await who.post(`${path}/${id}`, { ...kept, url: 'https://other.example.com/{path}' });
  assert.equal(moved.status, 422);
  assert.match(moved.text, /id="custom_headers_error">Custom headers: values must be entered again/);
  await who.post(`${path}/${id}`, {
    ...kept,
    url: 'https://hooks.example.com/',
    remove_token: '1',
    'custom_headers[0][remove]': '1',
    'url_variables[0][value]': 'sesame-5',
  });
  assert.deepEqual((await load(id)).secrets, {
    token: null,
    signingToken: 'sesame-2',
    headers: {},
    urlVariables: { path: 'sesame-5' },
  });
});

test('shows of the address of a chat only the host, and keeps it where the field is empty', async () => {
  const { path, api, who } = projectPlace();
  const url = `${receiver.url}/services/T0/sesame`;
  await who.post(path, { url, format: 'slack', push_events: '1' });
  const id = await lastId(api);
  await gantry.api(`POST ${api}/${id}/test/member_events`);
  const [{ id: delivery }] = (await gantry.api(`GET ${api}/${id}/events`)).body;
  const host = `${receiver.url}/[hidden]`;
  for (const page of [path, `${path}/${id}`, `${path}/${id}/deliveries/${delivery}`]) {
    const { text } = await who.get(page);
    assert.ok(text.includes(host), page);
    assert.doesNotMatch(text, /sesame/, page);
  }
  assert.doesNotMatch((await who.get(`${path}/${id}/edit`)).text, /sesame/);
  const saved = await who.post(`${path}/${id}`, { url: '', format: 'slack', name: 'Chat', push_events: '1' });
  assert.equal(saved.status, 303, saved.text);
  const { body } = await gantry.api(`GET ${api}/${id}`);
  assert.deepEqual([body.url, body.name], [url, 'Chat']);
  const unhidden = await who.post(`${path}/${id}`, { url: '', format: 'json', name: 'Chat' });
  assert.equal(unhidden.status, 422);
  assert.match(unhidden.text, /id="url_error">Type the URL again/);
  assert.doesNotMatch(unhidden.text, /sesame/);
  await who.post(`${path}/${id}`, { url: `${url}-2`, format: 'json', name: 'Plain', push_events: '1' });
  assert.equal((await gantry.api(`GET ${api}/${id}`)).body.url, `${url}-2`);
  const former = await who.get(`${path}/${id}/deliveries/${delivery}`);
  assert.ok(former.text.includes(host));
  assert.doesNotMatch(former.text, /sesame/);
  assert.equal((await who.post(`${path}/${id}`, { url: '', format: 'json' })).status, 422);
});

test('filters the deliveries of a hook by their answer', async () => {
  const { path, api, who } = projectPlace();
  receiver.clear();
  await who.post(path, { url: `${receiver.url}/filtered`, push_events: '0' });
  const id = await lastId(api);
  await who.post(`${path}/${id}/test`, { trigger: 'member_events' });
  receiver.answer((_request, response) => void response.writeHead(503).end());
  await who.post(`${path}/${id}/test`, { trigger: 'member_events' });
  receiver.clear();
  const linesOf = async (status: string): Promise<number> => {
    const { text } = await who.get(`${path}/${id}?status=${status}`);
    return [...text.matchAll(/<th scope="row"><a href="[^"]+\/deliveries\/\d+">/g)].length;
  };
  assert.deepEqual(
    [await linesOf(''), await linesOf('successful'), await linesOf('server_failure')],
    [2, 1, 1],
  );
  const { text } = await who.get(`${path}/${id}?status=no_response`);
  assert.match(text, /<option value="no_response" selected>[\s\S]*No deliveries found/);
  assert.equal((await who.get(`${path}/${id}?status=odd`)).status, 400);
});

test('shows problems, keeps the input without secrets, and changes nothing', async () => {
  for (const { path, api, who } of places) {
    const before = (await gantry.api(`GET ${api}`)).body;
    const cases: [Record<string, string>, RegExp][] = [
      [{ url: '', name: 'kept' }, /value="kept"/],
      [{ url: 'ftp://x', name: 'kept' }, /id="url_error">Invalid url given[\s\S]*value="kept"/],
      [{ url: 'https://x.example', custom_webhook_template: '{"a' }, /id="custom_webhook_template_error"/],
      [{ url: 'https://x.example', name: 'x'.repeat(300) }, /id="name_error"/],
      [
        { url: 'https://x.example', branch_filter_strategy: 'regex', push_events_branch_filter: '(' },
        /id="push_events_branch_filter_error"[\s\S]*/,
      ],
      [
        { url: 'https://x.example', 'custom_headers[0][key]': 'Host', 'custom_headers[0][value]': 'sesame' },
        /id="custom_headers_error"[\s\S]*value="Host"/,
      ],
    ];
    for (const [form, expected] of cases) {
      const { status, text } = await who.post(path, { ...form, token: 'sesame' });
      assert.equal(status, 422, JSON.stringify(form));
      assert.match(text, expected);
      assert.doesNotMatch(text, /sesame/);
      assert.match(text, /role="alert">[^<]+ The secrets that you typed were not saved: type them again\.</);
      assert.match(text, /id="token_error">.*Type it again: it was not saved\./);
    }
    assert.deepEqual((await gantry.api(`GET ${api}`)).body, before);
  }
});

test('asks for the secrets of a form that somebody else forestalled', async () => {
  const { path, api, who } = projectPlace();
  const url = 'https://hooks.example.com/';
  await who.post(path, { url, token: 'sesame-1' });
  const id = await lastId(api);
  const baseIn = (text: string): string => /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const base = baseIn((await who.get(`${path}/${id}/edit`)).text);
  await gantry.api(`PUT ${api}/${id}`, { json: { name: 'Theirs' } });
  const mine = {
    url,
    name: 'Mine',
    signing_token: 'sesame-2',
    remove_token: '1',
    'custom_headers[0][key]': 'X-Key',
    'custom_headers[0][value]': 'sesame-3',
    'custom_headers[1][key]': 'X-Empty',
  };
  const { status, text } = await who.post(`${path}/${id}`, { ...mine, base });
  assert.equal(status, 422);
  assert.match(text, /role="alert">Somebody edited this hook meanwhile[^<]+ type them again\.</);
  const lost = [...text.matchAll(/<p class="error" id="([^"]+)">Type it again: it was not saved\.</g)];
  assert.deepEqual(
    lost.map(([, field]) => field),
    ['signing_token_error', 'custom_headers_0_value__error'],
  );
  assert.match(text, /id="remove_token"[^>]* checked/);
  assert.doesNotMatch(text, /sesame/);
});

test('shows what somebody else saved in the words of the form, without events that it lacks', async () => {
  const { path, api, who } = projectPlace();
  const url = 'https://hooks.example.com/';
  await who.post(path, { url, push_events: '1' });
  const id = await lastId(api);
  const edit = await who.get(`${path}/${id}/edit`);
  const base = /name="base" value="([^"]+)"/.exec(edit.text)?.[1] ?? '';
  const put = async (json: object) => await gantry.api(`PUT ${api}/${id}`, { json });
  await put({ wiki_page_events: true });
  const mine = { url, push_events: '1', base };
  assert.equal((await who.post(`${path}/${id}`, mine)).status, 303, 'a flag without a box');
  const filter = { branch_filter_strategy: 'wildcard', push_events_branch_filter: 'v*' };
  await put({ ...filter, issues_events: true, wiki_page_events: true });
  const { text } = await who.post(`${path}/${id}`, mine);
  const card = /Saved meanwhile[^]+?<\/section>/.exec(text)?.[0] ?? '';
  assert.match(card, /<h3>Events<\/h3><p class="lines">Pushes to branches, Issues</);
  assert.match(card, /<p class="lines">Branches that match a pattern<\/p>/);
  assert.doesNotMatch(card, /wiki/);
});

test('sends tests, shows request and answer, and sends again', async () => {
  const { path, api, who } = projectPlace();
  receiver.clear();
  await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'A <b>' } });
  await who.post(path, { url: `${receiver.url}/x`, issues_events: '1', token: 'open sesame' });
  const id = await lastId(api);
  const tested = await who.post(`${path}/${id}/test`, { trigger: 'issues_events' });
  assert.equal(tested.location, `${path}/${id}`);
  const after = await who.get(`${path}/${id}`);
  assert.match(after.text, /Sent\. The receiver answered 200 OK\.[\s\S]*200 OK<\/span>[\s\S]*Issue Hook/);
  const [{ id: delivery }] = (await gantry.api(`GET ${api}/${id}/events`)).body;
  const page = await who.get(`${path}/${id}/deliveries/${delivery}`);
  assert.match(page.text, /X-Gitlab-Event: Issue Hook[\s\S]*X-Gitlab-Token: \[REDACTED\]/);
  assert.match(page.text, /&quot;title&quot;: &quot;A &lt;b&gt;&quot;|"title": "A &lt;b&gt;"/);
  assert.match(page.text, /thanks/);
  assert.doesNotMatch(page.text, /sesame/);
  receiver.answer((_request, response) => void response.writeHead(503).end('later'));
  await who.post(`${path}/${id}/deliveries/${delivery}/resend`);
  assert.match((await who.get(`${path}/${id}`)).text, /The delivery failed: 503 Service Unavailable\./);
  assert.match((await who.get(path)).text, /Last delivery [\s\S]*503 Service Unavailable/);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.deepEqual([ids.length, ids[0]], [2, ids[1]]);
  await who.post(`${path}/${id}/test`, { trigger: 'releases_events' });
  assert.match((await who.get(`${path}/${id}`)).text, /There is no record to test releases_events with/);
  assert.equal((await who.get(`${path}/${id}/deliveries/${delivery + 1_000}`)).status, 404);
  assert.equal((await who.post(`${path}/${id}/test`, { trigger: 'x' })).status, 400);
});

test('says why a hook is paused, and resumes it', async () => {
  const { path, api, who } = projectPlace();
  receiver.clear();
  receiver.answer((_request, response) => void response.writeHead(500).end('no'));
  gantry.setTime(Date.now() + 1_000);
  await who.post(path, { url: `${receiver.url}/paused`, issues_events: '1', push_events: '0' });
  const id = await lastId(api);
  for (let one = 0; one < 4; one += 1)
    await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'x' } });
  await gantry.service.worker.drain();
  const paused = await who.get(`${path}/${id}`);
  assert.match(
    paused.text,
    /Paused until [\s\S]*The last 4 deliveries failed: <a [^>]+>500 Internal Server Error/,
  );
  assert.match(paused.text, /4 deliveries wait\./);
  assert.match((await who.get(path)).text, /Paused</);
  receiver.clear();
  await gantry.service.worker.drain();
  assert.equal(receiver.received.filter((one) => one.path === '/paused').length, 0);
  assert.equal((await who.post(`${path}/${id}/resume`)).location, `${path}/${id}`);
  await gantry.service.worker.drain();
  assert.equal(receiver.received.filter((one) => one.path === '/paused').length, 4);
  const resumed = contentIn(await who.get(`${path}/${id}`));
  assert.deepEqual([/Paused/.test(resumed), /deliveries wait/.test(resumed)], [false, false]);
  gantry.setTime(null);
});

test('only users who manage hooks open their pages', async () => {
  for (const { path, api, scope } of places) {
    const { body } = await gantry.api(`POST ${api}`, { json: { url: 'https://hooks.example.com' } });
    const status = scope === 'instance' ? 404 : 403;
    for (const below of ['', '/new', `/${body.id}`, `/${body.id}/edit`, `/${body.id}/deliveries/1`])
      assert.equal((await developer.get(path + below)).status, status, path + below);
    for (const below of ['', `/${body.id}`, `/${body.id}/test`, `/${body.id}/resume`, `/${body.id}/delete`])
      assert.equal((await developer.post(path + below, { url: 'x' })).status, status, path + below);
    for (const other of places.filter((one) => one.path !== path))
      assert.equal((await other.who.get(`${other.path}/${body.id}`)).status, 404, 'of another place');
  }
});
