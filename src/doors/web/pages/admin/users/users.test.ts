import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../../test/support/visitor.ts';
import { pagePaths } from '../../../routes.ts';

const password = 'correct horse';
let gantry: TestService;
let admin: Visitor;

type Someone = { id: number; username: string; visitor: Visitor };

const make = async (attributes: object = {}): Promise<{ id: number; username: string }> => {
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

const someone = async (attributes: object = {}): Promise<Someone> => {
  const user = await make(attributes);
  const visitor = openVisitor(gantry);
  await visitor.signIn(user.username, password);
  await visitor.get('/profile');
  return { ...user, visitor };
};

before(async () => {
  gantry = await startTestService();
  ({ visitor: admin } = await someone({ admin: true }));
});
after(async () => await gantry.close());

const load = async (id: number) => (await gantry.api(`GET /users/${id}`)).body;

const countIn = (text: string, tab: string): number =>
  Number(new RegExp(`>${tab} <span class="count">(\\d+)<`).exec(text)?.[1]);

test('every page of administration is missing to others', async () => {
  const { visitor } = await someone();
  const lines = pagePaths.flatMap((entry) => entry.lines).filter((line) => line.includes(' /admin'));
  assert.ok(lines.length > 30);
  for (const line of lines) {
    const [method = '', path = ''] = line.split(' ');
    const filled = path.replaceAll(/:\w+/g, '1');
    const ask = async (at: string) => (method === 'GET' ? await visitor.get(at) : await visitor.post(at));
    const [hidden, missing] = [await ask(filled), await ask('/admin/no-such-page')];
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text], line);
    const { status, location } = await openVisitor(gantry)[method === 'GET' ? 'get' : 'post'](filled);
    assert.ok([302, 303].includes(status) && location?.startsWith('/users/sign_in') === true, line);
  }
});

test('lists users by state with counts, search, order and pages', async () => {
  const word = unique('needle');
  const blocked = await make({ name: `${word} blocked` });
  await gantry.api(`POST /users/${blocked.id}/block`);
  const boss = await make({ name: `${word} boss`, admin: true });
  const plain = await make({ name: `${word} plain` });
  const listed = async (query: string) => {
    const { text } = await admin.get(`/admin/users?search=${word}&${query}`);
    const ids = [...text.matchAll(/class="title" href="\/admin\/users\/(\d+)"/g)].map(([, id]) => Number(id));
    return { ids, text };
  };
  assert.deepEqual((await listed('')).ids, [plain.id, boss.id]);
  assert.deepEqual((await listed('filter=blocked')).ids, [blocked.id]);
  assert.deepEqual((await listed('filter=admins')).ids, [boss.id]);
  assert.deepEqual((await listed('filter=two_factor_disabled&sort=name')).ids, [boss.id, plain.id]);
  assert.deepEqual((await listed('filter=all&sort=oldest')).ids, [blocked.id, boss.id, plain.id]);
  const paged = await listed('filter=all&per_page=2&page=2');
  assert.deepEqual(paged.ids, [blocked.id]);
  assert.match(paged.text, /<a href="[^"]*search=needle[^"]*page=1&amp;per_page=2">Previous</);
  const all = (await admin.get('/admin/users')).text;
  assert.equal(countIn(all, 'All'), countIn(all, 'Active') + countIn(all, 'Blocked'));
  assert.ok(countIn(all, 'Blocked') >= 1);
  assert.match((await listed('filter=external')).text, /No user matches the filter/);
  assert.equal((await admin.get('/admin/users?filter=x')).status, 400);
});

test('creates a user', async () => {
  const username = unique('fresh');
  await admin.get('/admin/users/new');
  const form = {
    name: '<i>Fresh</i>',
    username,
    email: `${username}@example.com`,
    password: '',
    projects_limit: '7',
    can_create_group: '0',
    note: 'new here',
  };
  const { status, location } = await admin.post('/admin/users', form);
  assert.equal(status, 303);
  const [, id] = /^\/admin\/users\/(\d+)$/.exec(location ?? '') ?? [];
  const user = await load(Number(id));
  assert.deepEqual(
    [user.name, user.projects_limit, user.can_create_group, user.is_admin, user.note],
    ['<i>Fresh</i>', 7, false, false, 'new here'],
  );
  const { text } = await admin.get(location ?? '');
  assert.match(text, /<h1>&lt;i&gt;Fresh&lt;\/i&gt;<\/h1>/);
  assert.doesNotMatch(text, /<i>Fresh/);
});

test('shows the form again with what is wrong', async () => {
  const { username } = await make();
  await admin.get('/admin/users/new');
  const form = { name: 'Kept', username, email: 'x@example.com', projects_limit: '1' };
  const taken = await admin.post('/admin/users', form);
  assert.equal(taken.status, 422);
  assert.match(taken.text, /id="username_error">User name has already been taken/);
  assert.match(taken.text, /name="name" type="text" value="Kept"/);
  const odd = await admin.post('/admin/users', { ...form, projects_limit: 'many', email: 'no address' });
  assert.equal(odd.status, 422);
  assert.match(odd.text, /id="projects_limit_error"/);
});

test('saves the form of a user', async () => {
  const { id } = await make();
  const path = `/admin/users/${id}`;
  assert.match((await admin.get(`${path}/edit`)).text, /<h1>Edit Name of/);
  const username = unique('renamed');
  const form = { name: 'New name', username, email: `${username}@example.com`, projects_limit: '3' };
  const { status } = await admin.post(`${path}/edit`, { ...form, admin: '1', note: 'careful' });
  assert.equal(status, 303);
  const user = await load(id);
  assert.deepEqual(
    [user.username, user.name, user.is_admin, user.note],
    [username, 'New name', true, 'careful'],
  );
  const wrong = await admin.post(`${path}/edit`, { ...form, username: 'no spaces', name: '' });
  assert.equal(wrong.status, 422);
  assert.match(
    wrong.text,
    /id="username_error"[\s\S]+value="no spaces"|value="no spaces"[\s\S]+id="username_error"/,
  );
  assert.equal((await admin.get('/admin/users/999999999')).status, 404);
  assert.equal((await admin.post('/admin/users/x/edit', form)).status, 404);
});

test('blocks and unblocks a user', async () => {
  const { id, visitor } = await someone();
  const path = `/admin/users/${id}`;
  assert.match((await admin.get(path)).text, new RegExp(`action="${path}/block"`));
  assert.equal((await admin.post(`${path}/block`)).status, 303);
  assert.equal((await load(id)).state, 'blocked');
  assert.equal((await visitor.get('/profile')).location, '/users/sign_in?return_to=%2Fprofile');
  assert.match((await admin.get(path)).text, new RegExp(`Blocked</span>[\\s\\S]+action="${path}/unblock"`));
  await admin.post(`${path}/unblock`);
  assert.equal((await load(id)).state, 'active');
});

test('an administrator can neither block nor delete their own account here', async () => {
  const self = await someone({ admin: true });
  const { text } = await self.visitor.get(`/admin/users/${self.id}`);
  assert.doesNotMatch(text, new RegExp(`${self.id}/(?:block|delete)"`));
  assert.equal((await self.visitor.post(`/admin/users/${self.id}/block`)).status, 403);
  const removal = { username: self.username, contributions: 'keep' };
  assert.equal((await self.visitor.post(`/admin/users/${self.id}/delete`, removal)).status, 403);
});

test('resets a password, shown once, and ends the sessions', async () => {
  const { id, username, visitor } = await someone();
  await admin.get(`/admin/users/${id}`);
  const { status, text } = await admin.post(`/admin/users/${id}/reset_password`);
  assert.equal(status, 200);
  const [, newPassword = ''] = /<code class="secret">([^<]+)</.exec(text) ?? [];
  assert.equal((await visitor.get('/profile')).status, 302);
  await openVisitor(gantry).signIn(username, newPassword);
  assert.doesNotMatch((await admin.get(`/admin/users/${id}`)).text, new RegExp(newPassword));
});

test('turns off a second factor', async () => {
  const { id, username } = await make();
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', id).execute();
  });
  assert.match((await admin.get(`/admin/users/${id}`)).text, /Two-factor on/);
  assert.equal((await admin.post(`/admin/users/${id}/disable_two_factor`)).status, 303);
  assert.equal((await load(id)).two_factor_enabled, false);
  await openVisitor(gantry).signIn(username, password);
  const [event] = (await gantry.api('GET /audit_events?kind=two_factor.disabled')).body;
  assert.deepEqual([event.target_type, event.target_id], ['User', id]);
});

test('deletes a user whose name is typed, keeping or erasing contributions', async () => {
  const project = (await gantry.api('POST /projects', { json: { name: unique('home') } })).body;
  const contribute = async () => {
    const { id, username } = await make({ admin: true });
    const json = { title: 'By a user' };
    const { iid } = (await gantry.api(`POST /projects/${project.id}/issues?sudo=${id}`, { json })).body;
    return { id, username, iid };
  };
  const issue = async (iid: number) => await gantry.api(`GET /projects/${project.id}/issues/${iid}`);
  const kept = await contribute();
  const path = `/admin/users/${kept.id}/delete`;
  assert.match((await admin.get(path)).text, /Keep contributions/);
  const wrong = await admin.post(path, { username: 'other', contributions: 'keep' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /The user name does not match/);
  assert.equal((await admin.post(path, { username: kept.username, contributions: 'keep' })).status, 303);
  assert.equal((await gantry.api(`GET /users/${kept.id}`)).status, 404);
  assert.equal((await issue(kept.iid)).body.author.username, 'ghost');
  const erased = await contribute();
  const form = { username: erased.username, contributions: 'erase' };
  assert.equal((await admin.post(`/admin/users/${erased.id}/delete`, form)).status, 303);
  assert.equal((await issue(erased.iid)).status, 404);
});

test('says why a user cannot be deleted', async () => {
  const { id, username } = await make();
  await gantry.api(`POST /groups?sudo=${id}`, { json: { name: unique('g'), path: unique('g') } });
  await admin.get(`/admin/users/${id}/delete`);
  const { status, text } = await admin.post(`/admin/users/${id}/delete`, { username, contributions: 'keep' });
  assert.equal(status, 422);
  assert.match(text, /sole-owner of a group/);
});

test('lists and ends sessions, keys and tokens', async () => {
  const { id, visitor } = await someone();
  const path = `/admin/users/${id}`;
  const action = (text: string, last: string): string =>
    new RegExp(`action="(${path}/\\w+/\\d+/${last})"`).exec(text)?.[1] ?? '';
  const key = `ssh-ed25519 ${Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    Buffer.alloc(32, 7),
  ]).toString('base64')} laptop`;
  assert.equal((await gantry.api(`POST /users/${id}/keys`, { json: { title: 'laptop', key } })).status, 201);
  const json = { name: 'robot', scopes: ['read_api'] };
  assert.equal((await gantry.api(`POST /users/${id}/impersonation_tokens`, { json })).status, 201);
  const keys = await admin.get(`${path}/keys`);
  assert.match(keys.text, /laptop/);
  assert.equal((await admin.post(action(keys.text, 'delete'))).status, 303);
  assert.match((await admin.get(`${path}/keys`)).text, /No SSH keys/);
  assert.match((await admin.get(`${path}/tokens`)).text, /No tokens/);
  const tokens = await admin.get(`${path}/tokens?kind=impersonation`);
  assert.match(tokens.text, /robot<\/th><td>read_api/);
  assert.equal((await admin.post(action(tokens.text, 'revoke'))).status, 303);
  assert.match((await admin.get(`${path}/tokens?kind=impersonation`)).text, /Revoked/);
  const sessions = await admin.get(`${path}/sessions`);
  assert.equal((await admin.post(action(sessions.text, 'end'))).status, 303);
  assert.equal((await visitor.get('/profile')).status, 302);
  const other = await make();
  assert.equal((await admin.post(`/admin/users/${other.id}/sessions/1/end`)).status, 404);
});
