/** Filters of the lists of users, members and namespaces; identities assigned by administrators. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let plain: SeededUser;
before(async () => {
  gantry = await startTestService();
  plain = await seedUser(gantry);
});
after(async () => await gantry.close());

const ids = async (path: string, as?: string): Promise<number[]> => {
  const reply = await gantry.api(`GET ${path}`, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-total'), String(reply.body.length));
  return reply.body.map(({ id }: { id: number }) => id);
};

test('administrators filter users by attributes that only they see', async () => {
  const word = unique('filter');
  const named = async (more: object) =>
    (await seedUser(gantry, { username: `${word}-${unique('u')}`, ...more })).id;
  const [admin, external, blocked] = [
    await named({ admin: 1 }),
    await named({ external: 1 }),
    await named({ state: 'blocked' }),
  ];
  const busy = await named({});
  await seedProject(gantry, { owner: busy });
  const filtered = async (query: string) => await ids(`/users?search=${word}&sort=asc&${query}`);
  assert.deepEqual(await filtered('admins=true'), [admin]);
  assert.deepEqual(await filtered('exclude_external=true'), [admin, blocked, busy]);
  assert.deepEqual(await filtered('without_projects=true'), [admin, external, blocked]);
  assert.deepEqual(await filtered('two_factor=enabled'), []);
  assert.deepEqual(await filtered('exclude_active=true'), [blocked]);
  assert.deepEqual(await filtered('exclude_humans=true'), []);
  assert.deepEqual(await filtered('humans=true&two_factor=disabled'), [admin, external, blocked, busy]);
  for (const query of [
    'admins=true',
    'two_factor=disabled',
    'without_projects=true',
    'exclude_external=true',
  ]) {
    assert.equal((await gantry.api(`GET /users?${query}`, { as: plain.token })).status, 403, query);
  }
  assert.equal((await gantry.api('GET /users?saml_provider_id=1')).status, 400);
  assert.equal((await gantry.api('GET /users?custom_attributes[x]=1')).status, 400);
});

test('an administrator links a user to a provider account and finds the user by it', async () => {
  const username = unique('linked');
  const json = { username, name: username, email: `${username}@example.com`, force_random_password: true };
  const identity = { provider: 'corporate', extern_uid: unique('uid') };
  const made = await gantry.api('POST /users', { json: { ...json, ...identity } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.identities, [identity]);
  assert.equal(made.body.locked, false);
  const namespace = await gantry.api(`GET /namespaces/${username}`);
  assert.equal(made.body.namespace_id, namespace.body.id);
  const query = `provider=${identity.provider}&extern_uid=${identity.extern_uid}`;
  assert.deepEqual(await ids(`/users?${query}`), [made.body.id]);
  const taken = await gantry.api(`PUT /users/${plain.id}`, { json: identity });
  assert.deepEqual(
    [taken.status, taken.body],
    [400, { message: { extern_uid: ['has already been taken'] } }],
  );
  const moved = { ...identity, extern_uid: unique('uid') };
  const changed = await gantry.api(`PUT /users/${made.body.id}`, { json: moved });
  assert.deepEqual(changed.body.identities, [moved]);
  // The user is not created if the account belongs to another user.
  const second = unique('linked');
  const refused = await gantry.api('POST /users', {
    json: { ...json, ...moved, username: second, email: `${second}@example.com` },
  });
  assert.equal(refused.status, 400);
  assert.deepEqual(await ids(`/users?username=${second}`), []);
  const half = await gantry.api(`PUT /users/${plain.id}`, { json: { provider: 'corporate' } });
  assert.deepEqual(half.body, { message: '400 (Bad request) "extern_uid" not given' });
  assert.equal((await gantry.api(`GET /users?${query}`, { as: plain.token })).status, 403);
});

test('filters members by user and shows when and by whom they were added', async () => {
  const group = await seedGroup(gantry);
  const [one, two] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: one.id, group: group.id, access_level: 10 });
  const added = await gantry.api(`POST /groups/${group.id}/members`, {
    json: { user_id: two.id, access_level: 30 },
  });
  assert.match(added.body.created_at, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual([added.body.created_by.username, added.body.membership_state], ['root', 'active']);
  const project = await seedProject(gantry, { namespace: group.id });
  for (const path of [`/groups/${group.id}/members`, `/projects/${project.id}/members/all`]) {
    assert.deepEqual(await ids(`${path}?user_ids=${two.id}`), [two.id]);
    assert.deepEqual(await ids(`${path}?skip_users=${two.id}`), [one.id]);
    assert.deepEqual(await ids(`${path}?state=awaiting`), []);
    assert.deepEqual(await ids(`${path}?state=active`), [one.id, two.id]);
  }
});

test('namespaces are filtered by owner and by level', async () => {
  const user = await seedUser(gantry);
  const own = await seedGroup(gantry, { owner: user.id });
  const below = await seedGroup(gantry, { parent: own.id });
  const joined = await seedGroup(gantry);
  await seedMember(gantry, { user: user.id, group: joined.id, access_level: 30 });
  const personal = (await gantry.api(`GET /namespaces/${user.username}`, { as: user.token })).body.id;
  assert.deepEqual(await ids('/namespaces?owned_only=true', user.token), [personal, own.id, below.id]);
  assert.deepEqual(await ids('/namespaces?top_level_only=true', user.token), [personal, own.id, joined.id]);
});
