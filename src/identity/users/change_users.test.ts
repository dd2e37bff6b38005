import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { resetPassword } from './reset_password.ts';
import { isPassword } from './password.ts';
import { updateUser } from './update.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const password = 'correct horse';
const attributes = (overrides: object = {}) => {
  const username = unique('new');
  return { username, name: 'New User', email: `${username}@example.com`, password, ...overrides };
};
const post = async (json: object, as?: string) =>
  await gantry.api('POST /users', { json, ...(as !== undefined && { as }) });
const make = async (overrides: object = {}) => (await post(attributes(overrides))).body;
const put = async (id: number, json: object) => await gantry.api(`PUT /users/${id}`, { json });

const loadHash = async (id: number): Promise<string | null> => {
  const query = gantry.service.platform.store.db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).password_hash;
};

test('an administrator creates a user with all attributes', async () => {
  const profile = {
    skype: 's',
    linkedin: 'l',
    twitter: 't',
    website_url: 'https://example.com',
    organization: 'o',
    bio: 'b',
    location: 'here',
    projects_limit: 5,
    admin: true,
    can_create_group: false,
    note: 'n',
  };
  const json = attributes(profile);
  const { status, body } = await post({ ...json, skip_confirmation: true });
  assert.equal(status, 201);
  const { admin, ...shown } = profile;
  const { password: _password, ...names } = json;
  for (const [name, value] of Object.entries({ ...shown, ...names, admin: undefined, is_admin: admin })) {
    assert.deepEqual(body[name], value, name);
  }
  assert.equal(body.state, 'active');
  assert.equal(await isPassword(password, await loadHash(body.id)), true);
});

test('a new user has a personal namespace of the same name', async () => {
  const { id, username } = await make();
  const { db } = gantry.service.platform.store;
  const query = db.selectFrom('namespaces').select(['kind', 'full_path']).where('owner_id', '=', id);
  const rows = await query.execute();
  assert.deepEqual(
    rows.map(({ kind, full_path }) => [kind, full_path]),
    [['user', username]],
  );
});

test('refuses others who create, change, block or delete users', async () => {
  const { token, id } = await seedUser(gantry);
  assert.equal((await post(attributes(), token)).status, 403);
  for (const line of [
    `PUT /users/${id}`,
    `DELETE /users/${id}`,
    `POST /users/${id}/block`,
    `POST /users/999999/block`,
  ]) {
    const reply = await gantry.api(line, { as: token, json: { admin: true } });
    assert.equal(reply.status, 403, line);
  }
  assert.equal((await gantry.api(`GET /users/${id}`)).body.is_admin, false);
});

test('names missing required attributes', async () => {
  for (const name of ['email', 'name', 'username']) {
    const { status, body } = await post(attributes({ [name]: undefined }));
    assert.equal(status, 400);
    assert.deepEqual(body, { message: `400 (Bad request) "${name}" not given` });
  }
  const { status, body } = await post(attributes({ password: undefined }));
  assert.equal(status, 400);
  assert.match(body.message, /at least one of password, reset_password, force_random_password/);
});

test('refuses invalid attributes with a reason each', async () => {
  const { status, body } = await post({
    email: 'x',
    name: ' ',
    username: '-x',
    password: 'short',
    website_url: 'a b',
  });
  assert.equal(status, 400);
  assert.deepEqual(Object.keys(body.message), ['email', 'name', 'username', 'password', 'website_url']);
  assert.deepEqual(body.message.password, ['is too short (minimum is 8 characters)']);
  const long = await post(attributes({ bio: 'x'.repeat(256), projects_limit: -1 }));
  assert.deepEqual(long.body.message, {
    bio: ['is too long (maximum is 255 characters)'],
    projects_limit: ['must be greater than or equal to 0'],
  });
});

test('a reserved name is refused', async () => {
  const { status, body } = await post(attributes({ username: 'Admin' }));
  assert.equal(status, 400);
  assert.deepEqual(body, { message: { username: ['Admin is a reserved name'] } });
});

test('answers a taken name or address with a conflict, in any case', async () => {
  const { username, email } = await make();
  const sameName = await post(attributes({ username: username.toUpperCase() }));
  assert.equal(sameName.status, 409);
  assert.deepEqual(sameName.body, { message: 'Username has already been taken' });
  const sameEmail = await post(attributes({ email: ` ${email.toUpperCase()}` }));
  assert.equal(sameEmail.status, 409);
  assert.deepEqual(sameEmail.body, { message: 'Email has already been taken' });
});

test('refuses a name that is a group’s path', async () => {
  const { path } = await seedGroup(gantry);
  const { status, body } = await post(attributes({ username: path.toUpperCase() }));
  assert.equal(status, 400);
  assert.deepEqual(body, { message: { username: ['has already been taken'] } });
});

test('of concurrent requests for one name, one succeeds', async () => {
  const username = unique('race');
  const replies = await Promise.all(
    Array.from(
      { length: 6 },
      async (_, number) => await post(attributes({ username, email: `${number}@${username}` })),
    ),
  );
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409, 409],
  );
});

test('a random password is not the sent one', async () => {
  for (const wanted of [{ reset_password: true }, { force_random_password: true }]) {
    const { status, body } = await post(attributes({ password: undefined, ...wanted }));
    assert.equal(status, 201);
    assert.match((await loadHash(body.id)) ?? '', /^\$argon2id\$/);
  }
  const { body } = await post(attributes({ force_random_password: true }));
  assert.equal(await isPassword(password, await loadHash(body.id)), false);
});

test('an external user creates neither groups nor projects', async () => {
  const { id, ...body } = await make({ external: true, can_create_group: true, projects_limit: 9 });
  assert.deepEqual([body.external, body.can_create_group, body.projects_limit], [true, false, 0]);
  const internal = (await put(id, { external: false })).body;
  assert.deepEqual(
    [internal.external, internal.can_create_group, internal.projects_limit],
    [false, true, 100_000],
  );
  const external = (await put(id, { external: true })).body;
  assert.deepEqual([external.external, external.can_create_group, external.projects_limit], [true, false, 0]);
});

test('ignores unknown attributes', async () => {
  const json = attributes({
    id: 77,
    state: 'blocked',
    ghost: 1,
    password_hash: 'x',
    created_at: '2001-01-01',
    is_admin: true,
  });
  const { status, body } = await post(json);
  assert.equal(status, 201);
  assert.notEqual(body.id, 77);
  assert.deepEqual([body.state, body.is_admin], ['active', false]);
  assert.equal(await isPassword(password, await loadHash(body.id)), true);
  assert.doesNotMatch(body.created_at, /^2001/);
});

test('changes only the attributes that are sent', async () => {
  const was = await make({ bio: 'old', location: 'here' });
  const { status, body } = await put(was.id, { bio: 'new', admin: true, location: null });
  assert.equal(status, 200);
  assert.deepEqual(body, { ...was, bio: 'new', location: null, is_admin: true });
  assert.equal(await isPassword(password, await loadHash(was.id)), true);
});

test('a changed password replaces the old one', async () => {
  const { id, username } = await make();
  assert.equal((await put(id, { password: 'another horse' })).status, 200);
  assert.equal(await isPassword('another horse', await loadHash(id)), true);
  const own = await put(id, { password: username.toUpperCase() });
  assert.equal(own.status, 400);
  assert.deepEqual(Object.keys(own.body.message), ['password']);
});

test('a password is reset outside of a request', async () => {
  const { id } = await make();
  const random = await resetPassword(gantry.service.platform, null, id, null);
  assert.equal(await isPassword(random, await loadHash(id)), true);
});

test('the change log does not hold passwords and addresses', async () => {
  const { id } = await make();
  await put(id, { password: 'another horse', email: `other-${id}@example.com`, name: 'Other' });
  const query = gantry.service.platform.store.db
    .selectFrom('events')
    .select('data')
    .where('kind', '=', 'user.updated');
  const { data } = await query.where('target_id', '=', id).executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(data), { name: ['New User', 'Other'], email: [], password: [] });
});

test('refuses another user’s name or address, and accepts their own', async () => {
  const other = await make();
  const { id, username, email } = await make();
  assert.equal((await put(id, { username: other.username })).status, 409);
  assert.equal((await put(id, { email: other.email.toUpperCase() })).status, 409);
  assert.equal((await put(id, { username, email })).status, 200);
  assert.equal((await put(id, { username: username.toUpperCase() })).body.username, username.toUpperCase());
  assert.equal((await put(999_999, { name: 'x' })).status, 404);
});

test('only an address of the account can be public, until it changes', async () => {
  const { id, email } = await make();
  const refused = await put(id, { public_email: 'someone@else.example' });
  assert.deepEqual(refused.body, { message: { public_email: ['is not an email you own'] } });
  assert.equal((await put(id, { public_email: email })).body.public_email, email);
  assert.equal((await put(id, { bio: 'x' })).body.public_email, email);
  assert.equal((await put(id, { email: `moved-${email}` })).body.public_email, null);
});

test('an address that nobody confirmed is not public; one that an administrator gives is', async () => {
  const { id, email } = await make();
  const newEmail = `given-${email}`;
  assert.equal((await put(id, { email: newEmail, public_email: newEmail })).body.public_email, newEmail);
  const cause = { user: { id }, sudo_by_id: null };
  const typed = `typed-${email}`;
  const change = async (changes: object): Promise<void> =>
    await updateUser(gantry.service.platform, cause, id, changes);
  await assert.rejects(change({ email: typed, public_email: typed }), { kind: 'bad_request' });
  await change({ email: typed });
  assert.equal((await gantry.api(`GET /users/${id}`)).body.public_email, null);
  await assert.rejects(change({ public_email: typed }), { kind: 'bad_request' });
  assert.deepEqual((await gantry.api(`GET /users?public_email=${typed}`)).body, []);
});

test('renaming a user moves the namespace and its projects', async () => {
  const { id, username, token } = await seedUser(gantry);
  const project = await seedProject(gantry, { owner: id, path: 'Boat' });
  const renamed = unique('Renamed');
  assert.equal((await put(id, { username: renamed, name: 'Renamed User' })).status, 200);
  const { db } = gantry.service.platform.store;
  const namespace = await db
    .selectFrom('namespaces')
    .selectAll()
    .where('owner_id', '=', id)
    .executeTakeFirstOrThrow();
  assert.deepEqual([namespace.path, namespace.full_path, namespace.name], [renamed, renamed, 'Renamed User']);
  const row = await db
    .selectFrom('projects')
    .select('full_path')
    .where('id', '=', project.id)
    .executeTakeFirst();
  assert.equal(row?.full_path, `${renamed}/Boat`);
  const routes = await db
    .selectFrom('routes')
    .select('path')
    .where('path', 'like', `%${renamed.toLowerCase()}%`)
    .execute();
  assert.deepEqual(routes.map(({ path }) => path).toSorted(), [
    renamed.toLowerCase(),
    `${renamed.toLowerCase()}/boat`,
  ]);
  assert.equal((await gantry.api('GET /user', { as: token })).body.username, renamed);
  assert.equal((await gantry.api(`GET /users?search=${renamed}`)).body.length, 1);
  assert.equal((await post(attributes({ username }))).status, 201);
});

test('blocks a user at once and unblocks with the same rights', async () => {
  const { id, token } = await seedUser(gantry);
  for (const _ of [1, 2]) {
    const { status, body } = await gantry.api(`POST /users/${id}/block`);
    assert.deepEqual([status, body], [201, true]);
  }
  const refused = await gantry.api('GET /user', { as: token });
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, { message: '403 Forbidden - Your account has been blocked.' });
  assert.equal((await gantry.api(`GET /users/${id}`)).body.state, 'blocked');
  const { status, body } = await gantry.api(`POST /users/${id}/unblock`);
  assert.deepEqual([status, body], [201, true]);
  assert.equal((await gantry.api('GET /user', { as: token })).status, 200);
});

test('administrators cannot block themselves', async () => {
  const { status } = await gantry.api('POST /users/1/block');
  assert.equal(status, 403);
  assert.equal((await gantry.api('GET /user')).body.state, 'active');
  assert.equal((await gantry.api('POST /users/999999/block')).status, 404);
  assert.equal((await gantry.api('POST /users/999999/unblock')).status, 404);
});
