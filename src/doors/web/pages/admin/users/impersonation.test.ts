import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedIssue, seedProject, unique } from '../../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../../test/support/visitor.ts';
import { pagePaths } from '../../../routes.ts';

const password = 'correct horse';
const own = '_service_impersonator';
const session = '_service_session';
const banner = /<aside class="banner" aria-label="Impersonation">/;
let gantry: TestService;

type Someone = { id: number; username: string };

const make = async (attributes: object = {}): Promise<Someone> => {
  const username = unique('user');
  const json = {
    username,
    name: `Name of ${username}`,
    email: `${username}@example.com`,
    password,
    ...attributes,
  };
  const { status, body } = await gantry.api('POST /users', { json });
  assert.equal(status, 201);
  return { id: body.id, username };
};

const signIn = async ({ username }: Someone): Promise<Visitor> => {
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  await visitor.get('/profile');
  return visitor;
};

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Acting = { admin: Someone; user: Someone; visitor: Visitor };

/** A new administrator acts as a new user. */
const impersonate = async (): Promise<Acting> => {
  const [admin, user] = [await make({ admin: true }), await make()];
  const visitor = await signIn(admin);
  const { status, location } = await visitor.post(`/admin/users/${user.id}/impersonate`);
  assert.deepEqual([status, location], [303, '/']);
  await visitor.get('/');
  return { admin, user, visitor };
};

/** Returns whose account the pages of a browser are; null: nobody's. */
const whoIs = async (visitor: Visitor): Promise<string | null> =>
  /<span class="muted">@([\w-]+)<\/span>/.exec((await visitor.get('/profile')).text)?.[1] ?? null;

const audited = async (kind: string, actor: number) =>
  (await gantry.api(`GET /audit_events?kind=${kind}&actor_id=${actor}`)).body;

test('an administrator acts as a user, under a banner on every page, and stops', async () => {
  const { admin, user, visitor } = await impersonate();
  assert.equal(await whoIs(visitor), user.username);
  for (const path of ['/', '/profile', `/${user.username}`]) {
    const { text } = await visitor.get(path);
    assert.match(text, banner, path);
    assert.ok(text.includes(`You act as Name of ${user.username} (@${user.username})`), path);
  }
  const { status, location } = await visitor.post('/users/stop_impersonating');
  assert.deepEqual([status, location], [303, `/admin/users/${user.id}`]);
  const back = await visitor.get(location ?? '');
  assert.equal(back.status, 200);
  assert.doesNotMatch(back.text, banner);
  assert.equal(await whoIs(visitor), admin.username);
  assert.equal(visitor.cookies.has(own), false);
  for (const kind of ['impersonation.started', 'impersonation.ended']) {
    const [event] = await audited(kind, admin.id);
    assert.deepEqual([event.target_type, event.target_id], ['User', user.id], kind);
  }
});

test('neither administrators, nor the blocked, nor oneself, nor internal users are impersonated', async () => {
  const admin = await make({ admin: true });
  const visitor = await signIn(admin);
  const [peer, blocked, gone] = [await make({ admin: true }), await make(), await make()];
  await gantry.api(`POST /users/${blocked.id}/block`);
  const project = await seedProject(gantry, { visibility: 'public' });
  await gantry.api(`POST /projects/${project.id}/issues?sudo=${gone.id}`, { json: { title: 'x' } });
  await gantry.api(`DELETE /users/${gone.id}`);
  const [ghost] = (await gantry.api('GET /users?username=ghost')).body;
  for (const { id } of [peer, blocked, admin, ghost]) {
    assert.doesNotMatch((await visitor.get(`/admin/users/${id}`)).text, /impersonate"/);
    assert.equal((await visitor.post(`/admin/users/${id}/impersonate`)).status, 403);
  }
  assert.equal((await visitor.post('/admin/users/999999999/impersonate')).status, 404);
  assert.equal(await whoIs(visitor), admin.username);
  assert.deepEqual(await audited('impersonation.started', admin.id), []);
});

test('nobody else can impersonate, also not while being impersonated', async () => {
  const [plain, other] = [await make(), await make()];
  const visitor = await signIn(plain);
  const refused = await visitor.post(`/admin/users/${other.id}/impersonate`);
  const missing = await visitor.post('/admin/no-such-page');
  assert.deepEqual([refused.status, refused.text], [404, missing.text]);
  assert.equal((await visitor.post('/users/stop_impersonating')).status, 404);
  const acting = await impersonate();
  assert.equal((await acting.visitor.get('/admin')).status, 404);
  const chained = await acting.visitor.post(`/admin/users/${other.id}/impersonate`);
  assert.equal(chained.status, 404);
  assert.equal(await whoIs(acting.visitor), acting.user.username);
});

test('needs the token of the form', async () => {
  const [admin, user] = [await make({ admin: true }), await make()];
  const visitor = await signIn(admin);
  const path = `/admin/users/${user.id}/impersonate`;
  assert.equal((await visitor.post(path, { authenticity_token: null })).status, 422);
  const foreign = await visitor.post(path, {}, { origin: 'https://elsewhere.example' });
  assert.equal(foreign.status, 422);
});

test('the credentials of the user stay closed', async () => {
  const { user, visitor } = await impersonate();
  const lines = pagePaths
    .flatMap((entry) => entry.lines)
    .filter((line) => / \/(?:profile|oauth|users\/auth)/.test(line) && line !== 'GET /profile');
  assert.ok(lines.length > 25);
  for (const line of lines) {
    const [method = '', path = ''] = line.split(' ');
    const filled = path.replaceAll(/:\w+/g, '1');
    const { status, text } = method === 'GET' ? await visitor.get(filled) : await visitor.post(filled);
    assert.equal(status, 403, line);
    assert.match(text, /while you act as another user/, line);
  }
  assert.deepEqual((await gantry.api(`GET /users/${user.id}/keys`)).body, []);
});

test('the API answers reads as the user, and refuses writes', async () => {
  const { user, visitor } = await impersonate();
  const cookie = `${session}=${visitor.cookies.get(session)}`;
  const { text } = await visitor.get('/');
  const [, token = ''] = /name="authenticity_token" value="([^"]+)"/.exec(text) ?? [];
  const headers = { cookie, 'x-csrf-token': token, 'content-type': 'application/json' };
  const read = await fetch(`${gantry.url}/api/v4/user`, { headers });
  assert.equal(((await read.json()) as { id: number }).id, user.id);
  const write = async (path: string, body: object) =>
    (await fetch(`${gantry.url}/api/v4${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
      .status;
  assert.equal(await write('/user/personal_access_tokens', { name: 'x', scopes: ['api'] }), 403);
  assert.equal(await write('/projects', { name: 'x' }), 403);
  const sudo = await fetch(`${gantry.url}/api/v4/user?sudo=root`, { headers });
  assert.equal(sudo.status, 403);
});

test('what is changed carries the name of the administrator', async () => {
  const { admin, user, visitor } = await impersonate();
  const project = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  const path = `/${project.full_path}/-/variables`;
  await visitor.get(path);
  const { status } = await visitor.post(path, { key: 'COLOR', value: 'blue', environment_scope: '*' });
  assert.equal(status, 303);
  const { db } = gantry.service.platform.store;
  const events = await db.selectFrom('events').selectAll().where('project_id', '=', project.id).execute();
  const mine = events.filter(({ sudo_by_id }) => sudo_by_id === admin.id);
  assert.ok(mine.length > 0 && mine.every(({ actor_id }) => actor_id === user.id));
});

test('leaves no trace in the activity of the user', async () => {
  const { user, visitor } = await impersonate();
  gantry.setTime(Date.now() + 5 * 60_000);
  await visitor.get('/');
  gantry.setTime(null);
  const { last_sign_in_at, last_activity_on } = (await gantry.api(`GET /users/${user.id}`)).body;
  assert.deepEqual([last_sign_in_at, last_activity_on], [null, null]);
});

const cases: Record<string, (acting: Acting) => Promise<unknown>> = {
  'the administrator is blocked': async ({ admin }) => await gantry.api(`POST /users/${admin.id}/block`),
  'the administrator loses the role': async ({ admin }) =>
    await gantry.api(`PUT /users/${admin.id}`, { json: { admin: false } }),
  'the password of the administrator changes': async ({ admin }) =>
    await gantry.api(`PUT /users/${admin.id}`, { json: { password: 'another horse' } }),
  'the administrator is deleted': async ({ admin }) => await gantry.api(`DELETE /users/${admin.id}`),
  'the user becomes an administrator': async ({ user }) =>
    await gantry.api(`PUT /users/${user.id}`, { json: { admin: true } }),
  'the user is blocked': async ({ user }) => await gantry.api(`POST /users/${user.id}/block`),
  'an hour is over': async () => gantry.setTime(Date.now() + 3_600_000),
};

for (const [name, act] of Object.entries(cases)) {
  test(`ends when ${name}`, async () => {
    const acting = await impersonate();
    await act(acting);
    const { status, location } = await acting.visitor.get('/profile');
    gantry.setTime(null);
    assert.deepEqual([status, location], [302, '/users/sign_in?return_to=%2Fprofile']);
  });
}

test('ends with the session of the administrator', async () => {
  const { admin, visitor } = await impersonate();
  const elsewhere = await signIn(admin);
  const { text } = await elsewhere.get(`/profile/sessions`);
  const ends = [...text.matchAll(/action="(\/profile\/sessions\/\d+\/revoke)"/g)].map(
    ([, path = '']) => path,
  );
  for (const path of ends) await elsewhere.post(path);
  assert.equal((await visitor.get('/profile')).status, 302);
});

test('signing out signs the administrator out, too', async () => {
  const { visitor } = await impersonate();
  const secret = visitor.cookies.get(own) ?? '';
  assert.equal((await visitor.post('/users/sign_out')).status, 303);
  assert.deepEqual([visitor.cookies.has(own), visitor.cookies.has(session)], [false, false]);
  visitor.cookies.set(session, secret);
  assert.equal((await visitor.get('/profile')).status, 302);
});

test('the cookie of an impersonation alone does not lead back to the administrator', async () => {
  const { visitor } = await impersonate();
  const other = await signIn(await make({ admin: true }));
  for (const kept of [null, 'A'.repeat(43), other.cookies.get(session) ?? '']) {
    const thief = openVisitor(gantry);
    const acting = await impersonate();
    for (const [name, value] of acting.visitor.cookies) thief.cookies.set(name, value);
    thief.cookies.delete(own);
    if (kept !== null) thief.cookies.set(own, kept);
    await thief.get('/');
    assert.equal((await thief.post('/users/stop_impersonating')).status, 303);
    assert.equal(await whoIs(thief), null);
  }
  assert.match((await visitor.get('/')).text, banner);
});

test('the user sees the session without where the administrator is, and can end it', async () => {
  const { user, visitor } = await impersonate();
  const mine = await signIn(user);
  const { text } = await mine.get('/profile/sessions');
  const [row = ''] = /<tr>\s*<th scope="row">Administrator \(impersonation\)[\s\S]+?<\/tr>/.exec(text) ?? [];
  assert.match(row, /<td><\/td>/);
  const [, path = ''] = /action="([^"]+)"/.exec(row) ?? [];
  assert.equal((await mine.post(path)).status, 303);
  assert.equal((await visitor.get('/profile')).status, 302);
});

test('shows no feed address that would last', async () => {
  const { visitor, user } = await impersonate();
  const project = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  await seedIssue(gantry, { project: project.id });
  const path = `/${project.full_path}/issues`;
  assert.doesNotMatch((await visitor.get(path)).text, /feed_token/);
  assert.match((await (await signIn(user)).get(path)).text, /feed_token/);
});
