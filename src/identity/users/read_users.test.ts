import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const words = (text: string): string[] => text.trim().split(/\s+/).toSorted();
const basic = words('id name username state avatar_url web_url');
const profile =
  words(`${basic.join(' ')} created_at bio location public_email skype linkedin twitter website_url
  organization`);
const account = words(`${profile.join(' ')} last_sign_in_at confirmed_at last_activity_on email theme_id
  color_scheme_id projects_limit current_sign_in_at identities can_create_group can_create_project
  two_factor_enabled external locked namespace_id`);
const administered = words(`${account.join(' ')} is_admin note`);

const keysOf = (body: object): string[] => Object.keys(body).toSorted();
const names = (body: { username: string }[]): string[] => body.map(({ username }) => username);

/** Creates a user over HTTP, so that every attribute can be set. */
const make = async (attributes: object = {}): Promise<{ id: number; username: string; email: string }> => {
  const username = unique('made');
  const json = {
    username,
    name: username,
    email: `${username}@example.com`,
    password: 'correct horse',
    ...attributes,
  };
  const reply = await gantry.api('POST /users', { json });
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

test('a user reads their own account', async () => {
  const { id, username, token } = await seedUser(gantry);
  const { status, body } = await gantry.api('GET /user', { as: token });
  assert.equal(status, 200);
  assert.deepEqual(keysOf(body), account);
  assert.equal(body.id, id);
  assert.equal(body.email, `${username}@example.com`);
  assert.equal(body.web_url, `${gantry.url}/${username}`);
  assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(body.projects_limit, 100_000);
  assert.equal(body.can_create_project, true);
  assert.deepEqual(body.identities, []);
});

test('shows is_admin to administrators only', async () => {
  const { body } = await gantry.api('GET /user');
  assert.equal(body.is_admin, true);
  assert.deepEqual(keysOf(body), administered);
});

test('a token of scope read_user reads users and nothing else', async () => {
  const { token } = await seedUser(gantry, { scopes: ['read_user'] });
  assert.equal((await gantry.api('GET /user', { as: token })).status, 200);
  assert.equal((await gantry.api('GET /users', { as: token })).status, 200);
  assert.equal((await gantry.api('GET /users/1', { as: token })).status, 200);
  const refused = await gantry.api('GET /personal_access_tokens', { as: token });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error, 'insufficient_scope');
});

test('refuses anonymous callers', async () => {
  for (const path of ['/user', '/users', '/users?username=root', '/users/1']) {
    const reply = await gantry.api(`GET ${path}`, { as: null });
    assert.equal(reply.status, 401);
    assert.deepEqual(reply.body, { message: '401 Unauthorized' });
  }
});

test('shows other users the profile and only the public address', async () => {
  const { token } = await seedUser(gantry);
  const { id, email } = await make({ bio: 'Builds boats', note: 'for administrators' });
  const { status, body, text } = await gantry.api(`GET /users/${id}`, { as: token });
  assert.equal(status, 200);
  assert.deepEqual(keysOf(body), profile);
  assert.equal(body.bio, 'Builds boats');
  assert.ok(!text.includes(email));
});

test('an administrator reads the account of another', async () => {
  const { id, email } = await make({ note: 'for administrators' });
  const { body } = await gantry.api(`GET /users/${id}`);
  assert.deepEqual(keysOf(body), administered);
  assert.equal(body.email, email);
  assert.equal(body.is_admin, false);
  assert.equal(body.note, 'for administrators');
});

test('no response contains a password hash', async () => {
  const { id } = await make();
  for (const path of ['/user', '/users?per_page=100', `/users/${id}`]) {
    assert.ok(!(await gantry.api(`GET ${path}`)).text.includes('argon2'));
  }
});

test('a user who does not exist is not found', async () => {
  const { status, body } = await gantry.api('GET /users/999999');
  assert.equal(status, 404);
  assert.deepEqual(body, { message: '404 User Not Found' });
  assert.equal((await gantry.api('GET /users/root')).status, 400);
});

test('a listed user is shown in short, to an administrator in full', async () => {
  const { username, token } = await seedUser(gantry);
  const mine = await gantry.api(`GET /users?username=${username}`, { as: token });
  assert.deepEqual(keysOf(mine.body[0]), basic);
  const admin = await gantry.api(`GET /users?username=${username}`);
  assert.deepEqual(keysOf(admin.body[0]), administered);
});

test('finds a user by exact name in any case', async () => {
  const { username } = await seedUser(gantry);
  assert.deepEqual(names((await gantry.api(`GET /users?username=${username.toUpperCase()}`)).body), [
    username,
  ]);
  assert.deepEqual((await gantry.api(`GET /users?username=${username.slice(0, -1)}`)).body, []);
  assert.deepEqual((await gantry.api('GET /users?username=%25')).body, []);
  assert.deepEqual((await gantry.api('GET /users?username=')).body, []);
});

test('searches names and user names in any case, with literal wildcards', async () => {
  const word = unique('seek');
  const one = await make({ name: `Äpfel_100% ${word}` });
  const other = await make({ name: 'Other', username: `x-${word}` });
  const find = async (text: string) =>
    names((await gantry.api(`GET /users?search=${encodeURIComponent(text)}`)).body);
  assert.deepEqual(await find(word.toUpperCase()), [other.username, one.username]);
  assert.deepEqual(await find(`äPFEL_100% ${word}`), [one.username]);
  assert.deepEqual(await find(`a\u0308pfel_100% ${word}`), [one.username]);
  assert.deepEqual(await find(`_pfel%${word}`), []);
  assert.deepEqual(await find(`pfel\\_100% ${word}`), []);
});

test('finds users by private addresses for administrators only', async () => {
  const { token } = await seedUser(gantry);
  const { username, email, id } = await make();
  const search = `GET /users?search=${email.toUpperCase()}`;
  assert.deepEqual(names((await gantry.api(search)).body), [username]);
  assert.deepEqual((await gantry.api(search, { as: token })).body, []);
  assert.deepEqual((await gantry.api(`GET /users?search=${email.slice(0, -2)}`)).body, []);
  await gantry.api(`PUT /users/${id}`, { json: { public_email: email } });
  assert.deepEqual(names((await gantry.api(search, { as: token })).body), [username]);
});

test('lists are filtered by state and kind', async () => {
  const word = unique('state');
  const active = await make({ name: word });
  const blocked = await make({ name: word });
  const external = await make({ name: word, external: true });
  await gantry.api(`POST /users/${blocked.id}/block`);
  const find = async (query: string) =>
    names((await gantry.api(`GET /users?search=${word}&sort=asc${query}`)).body);
  assert.deepEqual(await find(''), [active.username, blocked.username, external.username]);
  assert.deepEqual(await find('&active=true'), [active.username, external.username]);
  assert.deepEqual(await find('&blocked=true'), [blocked.username]);
  assert.deepEqual(await find('&active=true&blocked=true'), []);
  assert.deepEqual(await find('&external=true'), [external.username]);
  assert.deepEqual(await find('&active=false'), [active.username, blocked.username, external.username]);
  assert.deepEqual(await find(`&ids[]=${active.id}&ids[]=${external.id}`), [
    active.username,
    external.username,
  ]);
});

test('only an administrator lists external users', async () => {
  const { token } = await seedUser(gantry);
  assert.equal((await gantry.api('GET /users?external=true', { as: token })).status, 403);
});

test('lists are filtered by time of creation, both ends included', async () => {
  const word = unique('born');
  const first = await make({ name: word });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const last = await make({ name: word });
  const { created_at } = (await gantry.api(`GET /users/${last.id}`)).body;
  const find = async (query: string) => names((await gantry.api(`GET /users?search=${word}${query}`)).body);
  assert.deepEqual(await find(`&created_after=${created_at}`), [last.username]);
  assert.deepEqual(await find(`&created_before=${created_at}`), [last.username, first.username]);
});

test('orders lists as requested, newest first by default', async () => {
  const word = unique('order');
  const b = await make({ name: `B ${word}`, username: `c-${word}` });
  const c = await make({ name: `c ${word}`, username: `A-${word}` });
  const a = await make({ name: `a ${word}`, username: `b-${word}` });
  const find = async (query: string) => names((await gantry.api(`GET /users?search=${word}${query}`)).body);
  assert.deepEqual(
    await find(''),
    [a, c, b].map(({ username }) => username),
  );
  assert.deepEqual(
    await find('&order_by=name&sort=asc'),
    [a, b, c].map(({ username }) => username),
  );
  assert.deepEqual(
    await find('&order_by=username&sort=desc'),
    [b, a, c].map(({ username }) => username),
  );
  await gantry.api(`PUT /users/${c.id}`, { json: { bio: 'changed last' } });
  assert.equal((await find('&order_by=updated_at'))[0], c.username);
});

test('refuses ordering by time of change for others than administrators', async () => {
  const { token } = await seedUser(gantry);
  const word = unique('quiet');
  const [first, last] = [await make({ name: word }), await make({ name: word })];
  await gantry.api(`PUT /users/${first.id}`, { json: { bio: 'changed last' } });
  const { body } = await gantry.api(`GET /users?search=${word}&order_by=updated_at`, { as: token });
  assert.deepEqual(names(body), [last.username, first.username]);
});

test('lists come in pages with exact totals', async () => {
  const word = unique('page');
  for (const _ of [1, 2, 3]) await make({ name: word });
  const { body, headers } = await gantry.api(`GET /users?search=${word}&per_page=2&page=2`);
  assert.equal(body.length, 1);
  assert.equal(headers.get('x-total'), '3');
  assert.equal(headers.get('x-total-pages'), '2');
});

test('can_create_project counts the existing projects of the personal namespace', async () => {
  const { id } = await make({ projects_limit: 1 });
  const may = async (): Promise<boolean> => (await gantry.api(`GET /users/${id}`)).body.can_create_project;
  assert.equal(await may(), true);
  const project = await seedProject(gantry, { owner: id });
  assert.equal(await may(), false);
  const { store } = gantry.service.platform;
  await store.write(async ({ db, now }) => {
    await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', project.id).execute();
  });
  assert.equal(await may(), true);
});

test('records the day of last activity after the request', async () => {
  const { id, token } = await seedUser(gantry);
  const day = async (): Promise<string | null> =>
    (await gantry.api(`GET /users/${id}`)).body.last_activity_on;
  assert.equal(await day(), null);
  gantry.setTime(Date.UTC(2030, 4, 6, 23, 59));
  await gantry.api('GET /version', { as: token });
  for (let tries = 0; tries < 400 && (await day()) === null; tries += 1) {
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
  gantry.setTime(null);
  assert.equal(await day(), '2030-05-06');
});
