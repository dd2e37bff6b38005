import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const paths = (list: { full_path: string }[]): string[] => list.map(({ full_path }) => full_path);

test('lists the personal namespace and the groups with a direct or inherited role', async () => {
  const user = await seedUser(gantry);
  const top = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedGroup(gantry, { parent: top.id, visibility: 'private' });
  await seedMember(gantry, { user: user.id, group: top.id, access_level: 10 });
  await seedGroup(gantry, { visibility: 'public' });
  const reply = await gantry.api('GET /namespaces', { as: user.token });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('x-total'), '3');
  assert.deepEqual(paths(reply.body), [user.username, top.full_path, below.full_path]);
  const [own, , nested] = reply.body;
  assert.deepEqual(own, {
    id: own.id,
    name: `Name of ${user.username}`,
    path: user.username,
    kind: 'user',
    full_path: user.username,
    parent_id: null,
    avatar_url: own.avatar_url,
    web_url: `${gantry.url}/${user.username}`,
  });
  assert.equal(nested.parent_id, top.id);
  assert.equal((await gantry.api('GET /namespaces', { as: null })).status, 401);
});

test('shows owners the number of members of a group and everything below it', async () => {
  const [one, two, three] = await Promise.all([seedUser(gantry), seedUser(gantry), seedUser(gantry)]);
  const top = await seedGroup(gantry, { owner: one.id });
  const below = await seedGroup(gantry, { parent: top.id });
  await seedMember(gantry, { user: two.id, group: top.id, access_level: 40 });
  await seedMember(gantry, { user: two.id, group: below.id, access_level: 50 });
  await seedMember(gantry, { user: three.id, group: below.id, access_level: 10 });
  const count = async (id: number, token: string) =>
    (await gantry.api(`GET /namespaces/${id}`, { as: token })).body.members_count_with_descendants;
  assert.equal(await count(top.id, one.token), 3);
  assert.equal(await count(below.id, two.token), 2);
  assert.equal(await count(top.id, two.token), undefined);
});

test('searches namespaces by name and path; an administrator sees all', async () => {
  const word = unique('space');
  const group = await seedGroup(gantry, { path: word, visibility: 'private' });
  const admin = await gantry.api(`GET /namespaces?search=${word.toUpperCase()}`);
  assert.deepEqual(paths(admin.body), [group.full_path]);
  const user = await seedUser(gantry);
  const other = await gantry.api(`GET /namespaces?search=${word}`, { as: user.token });
  assert.deepEqual([other.body, other.headers.get('x-total')], [[], '0']);
});

test('finds a namespace by id or path; a hidden one is answered like a missing one', async () => {
  const user = await seedUser(gantry);
  const other = await seedUser(gantry);
  const group = await seedGroup(gantry, { visibility: 'public' });
  const own = await gantry.api(`GET /namespaces/${user.username.toUpperCase()}`, { as: user.token });
  assert.equal(own.body.kind, 'user');
  assert.equal((await gantry.api(`GET /namespaces/${own.body.id}`, { as: user.token })).body.id, own.body.id);
  const project = await seedProject(gantry, { owner: user.id });
  for (const id of [
    group.id,
    group.path,
    other.username,
    999_999_999,
    encodeURIComponent(project.full_path),
  ]) {
    const reply = await gantry.api(`GET /namespaces/${id}`, { as: user.token });
    assert.deepEqual([reply.status, reply.text], [404, '{"message":"404 Namespace Not Found"}'], String(id));
  }
});
