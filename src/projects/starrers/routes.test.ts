import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const star = async (project: number, as: string | null, word: 'star' | 'unstar' = 'star') =>
  await gantry.api(`POST /projects/${project}/${word}`, { as });

const starCount = async (project: number, as?: string): Promise<number> =>
  (await gantry.api(`GET /projects/${project}`, as === undefined ? {} : { as })).body.star_count;

test('stars and unstars a project once, and counts its stars', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { id } = await seedProject(gantry, { visibility: 'internal', archived: 1 });
  assert.equal(await starCount(id), 0);
  const first = await star(id, one.token);
  assert.deepEqual([first.status, first.body.id, first.body.star_count], [201, id, 1]);
  const again = await star(id, one.token);
  assert.deepEqual([again.status, again.text], [304, '']);
  assert.equal((await star(id, other.token)).body.star_count, 2);
  const removed = await star(id, one.token, 'unstar');
  assert.deepEqual([removed.status, removed.body.star_count], [201, 1]);
  assert.equal((await star(id, one.token, 'unstar')).status, 304);
  assert.equal(await starCount(id), 1);
});

test('counts concurrent stars of one user once', async () => {
  const user = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  const replies = await Promise.all(Array.from({ length: 6 }, async () => await star(id, user.token)));
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 304, 304, 304, 304, 304],
  );
  assert.equal(await starCount(id), 1);
});

test('refuses anonymous callers and hides hidden projects', async () => {
  const user = await seedUser(gantry);
  const open = await seedProject(gantry);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  assert.equal((await star(open.id, null)).status, 401);
  for (const word of ['star', 'unstar'] as const) {
    const reply = await star(hidden.id, user.token, word);
    assert.deepEqual([reply.status, reply.text], [404, '{"message":"404 Project Not Found"}']);
  }
  assert.equal((await gantry.api(`GET /projects/${hidden.id}/starrers`, { as: user.token })).status, 404);
  assert.equal(await starCount(hidden.id), 0);
});

test('lists starrers with the latest first, searched and paged', async () => {
  const word = unique('fan');
  const [ann, bob, eve] = [
    await seedUser(gantry, { username: `${word}-ann` }),
    await seedUser(gantry, { username: `${word}-bob` }),
    await seedUser(gantry, { username: 'zoe' }),
  ];
  const { id } = await seedProject(gantry);
  for (const [at, { token }] of [ann, bob, eve].entries()) {
    gantry.setTime(Date.UTC(2030, 0, at + 1));
    await star(id, token);
  }
  gantry.setTime(null);
  const list = async (query = '', as: string | null = null) => {
    const reply = await gantry.api(`GET /projects/${id}/starrers${query}`, { as });
    return {
      users: reply.body.map((item: { user: { id: number } }) => item.user.id),
      total: reply.headers.get('x-total'),
      first: reply.body[0],
    };
  };
  const whole = await list();
  assert.deepEqual([whole.users, whole.total], [[eve.id, bob.id, ann.id], '3']);
  assert.deepEqual(Object.keys(whole.first), ['starred_since', 'user']);
  assert.equal(whole.first.starred_since, '2030-01-03T00:00:00.000Z');
  assert.deepEqual([whole.first.user.username, whole.first.user.web_url], ['zoe', `${gantry.url}/zoe`]);
  assert.equal('email' in whole.first.user, false);
  const found = await list(`?search=${word.toUpperCase()}&per_page=1&page=2`, ann.token);
  assert.deepEqual([found.users, found.total], [[ann.id], '2']);
  assert.deepEqual((await list('?search=%25')).users, []);
});

test('lists the starred projects of a user that the caller sees', async () => {
  const [fan, other] = [await seedUser(gantry), await seedUser(gantry)];
  const open = await seedProject(gantry);
  const inner = await seedProject(gantry, { visibility: 'internal' });
  const closed = await seedProject(gantry, { visibility: 'private', owner: fan.id });
  await seedProject(gantry);
  for (const { id } of [open, inner, closed]) assert.equal((await star(id, fan.token)).status, 201);
  const list = async (as: string | null, query = '', name: number | string = fan.id) => {
    const reply = await gantry.api(`GET /users/${name}/starred_projects?sort=asc&order_by=id${query}`, {
      as,
    });
    assert.equal(reply.status, 200, reply.text);
    return [reply.body.map(({ id }: { id: number }) => id), reply.headers.get('x-total')];
  };
  assert.deepEqual(await list(fan.token), [[open.id, inner.id, closed.id], '3']);
  assert.deepEqual(await list(other.token, '', fan.username.toUpperCase()), [[open.id, inner.id], '2']);
  assert.deepEqual(await list(null), [[open.id], '1']);
  assert.deepEqual(await list(fan.token, '&owned=true'), [[closed.id], '1']);
  // The caller's own stars, among those of the user.
  await star(inner.id, other.token);
  assert.deepEqual(await list(other.token, '&starred=true'), [[inner.id], '1']);
  assert.deepEqual(await list(null, '&starred=true'), [[], '0']);
});

test('tells anonymous callers nothing about users without a public project', async () => {
  const user = await seedUser(gantry);
  const inner = await seedProject(gantry, { visibility: 'internal' });
  await star(inner.id, user.token);
  for (const name of [user.id, user.username, 'nobody-of-that-name']) {
    const reply = await gantry.api(`GET /users/${name}/starred_projects`, { as: null });
    assert.deepEqual([reply.status, reply.text], [404, '{"message":"404 User Not Found"}']);
  }
  assert.equal((await gantry.api('GET /users/999999999/starred_projects')).status, 404);
});

test('filters projects by the caller’s stars and orders them by stars', async () => {
  const word = unique('sky');
  const users = [await seedUser(gantry), await seedUser(gantry)];
  const make = async (path: string) => (await seedProject(gantry, { path: `${word}-${path}` })).id;
  const [none, two, one] = [await make('none'), await make('two'), await make('one')];
  for (const { token } of users) await star(two, token);
  await star(one, users[0]?.token ?? '');
  const list = async (query: string, user = 0) => {
    const as = users[user]?.token ?? '';
    const reply = await gantry.api(`GET /projects?search=${word}&${query}`, { as });
    return reply.body.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await list('order_by=star_count'), [two, one, none]);
  assert.deepEqual(await list('order_by=star_count&sort=asc'), [none, one, two]);
  assert.deepEqual(await list('starred=true&order_by=id&sort=asc'), [two, one]);
  assert.deepEqual(await list('starred=true', 1), [two]);
});

test('forgets the stars of deleted users and of removed projects', async () => {
  const [fan, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { id } = await seedProject(gantry, { owner: other.id });
  for (const { token } of [fan, other]) await star(id, token);
  assert.equal((await gantry.api(`DELETE /users/${fan.id}`)).status, 204);
  assert.equal(await starCount(id), 1);
  const member = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: id, access_level: 50 });
  assert.equal((await gantry.api(`DELETE /projects/${id}`, { as: member.token })).status, 202);
  const listed = await gantry.api(`GET /users/${other.id}/starred_projects`, { as: other.token });
  assert.deepEqual(listed.body, []);
});
