import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Call } from '../../../core/access/call.ts';
import { type Viewer, anonymous } from '../../../core/access/viewer.ts';
import { type Meter, runMetered } from '../../../platform/db/statement_meter.ts';
import { listProjects } from './list.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Listed = { ids: number[]; total: string | null };

const list = async (path: string, token: string | null): Promise<Listed> => {
  const reply = await gantry.api(`GET ${path}`, { as: token });
  assert.equal(reply.status, 200, reply.text);
  return { ids: reply.body.map(({ id }: { id: number }) => id), total: reply.headers.get('x-total') };
};

/** Creates projects of every visibility, one owned and one joined by the user, that share a search word. */
const world = async () => {
  const word = unique('world');
  const user = await seedUser(gantry);
  const named = async (attributes: object) =>
    (await seedProject(gantry, { path: `${word}-${unique('p')}`, ...attributes })).id;
  const group = await seedGroup(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: user.id, group: group.id, access_level: 30 });
  const ids = {
    open: await named({ visibility: 'public' }),
    inner: await named({ visibility: 'internal' }),
    hidden: await named({ visibility: 'private' }),
    own: await named({ visibility: 'private', owner: user.id }),
    inGroup: await named({ visibility: 'private', namespace: group.id }),
    joined: await named({ visibility: 'private' }),
  };
  await seedMember(gantry, { user: user.id, project: ids.joined, access_level: 10 });
  return { word, user, ids };
};

test('lists what each viewer sees, with the exact total', async () => {
  const { word, user, ids } = await world();
  const path = `/projects?order_by=id&sort=asc&search=${word}`;
  const external = await seedUser(gantry, { external: 1 });
  const everything = Object.values(ids);
  assert.deepEqual(await list(path, null), { ids: [ids.open], total: '1' });
  assert.deepEqual(await list(path, external.token), { ids: [ids.open], total: '1' });
  const mine = [ids.open, ids.inner, ids.own, ids.inGroup, ids.joined];
  assert.deepEqual(await list(path, user.token), { ids: mine, total: '5' });
  const admin = await seedUser(gantry, { admin: 1 });
  assert.deepEqual(await list(path, admin.token), { ids: everything, total: '6' });
});

test('filters by the caller’s role, for administrators by granted roles', async () => {
  const { word, user, ids } = await world();
  const filtered = async (query: string, token: string | null = user.token) =>
    (await list(`/projects?order_by=id&sort=asc&search=${word}&${query}`, token)).ids;
  assert.deepEqual(await filtered('owned=true'), [ids.own]);
  assert.deepEqual(await filtered('membership=true'), [ids.own, ids.inGroup, ids.joined]);
  assert.deepEqual(await filtered('min_access_level=30'), [ids.own, ids.inGroup]);
  assert.deepEqual(await filtered('starred=true'), []);
  assert.deepEqual(await filtered('owned=true', null), []);
  assert.deepEqual(await filtered('membership=true', null), []);
  assert.deepEqual(await filtered('membership=true', (await seedUser(gantry, { admin: 1 })).token), []);
  const wrong = await gantry.api('GET /projects?min_access_level=35');
  assert.deepEqual(wrong.body, { message: { min_access_level: ['does not have a valid value'] } });
});

test('filters by visibility, archive and features', async () => {
  const { word, user, ids } = await world();
  const archived = (await seedProject(gantry, { path: `${word}-old`, archived: 1 })).id;
  const off = (await seedProject(gantry, { path: `${word}-off`, issues_access_level: 'disabled' })).id;
  const closed = (await seedProject(gantry, { path: `${word}-in`, issues_access_level: 'private' })).id;
  const filtered = async (query: string) =>
    (await list(`/projects?order_by=id&sort=asc&search=${word}&${query}`, user.token)).ids;
  assert.deepEqual(await filtered('visibility=internal'), [ids.inner]);
  assert.deepEqual(await filtered('archived=true'), [archived]);
  assert.equal((await filtered('archived=false')).includes(archived), false);
  const withIssues = await filtered('with_issues_enabled=true');
  assert.deepEqual(
    [withIssues.includes(off), withIssues.includes(closed), withIssues.includes(ids.own)],
    [false, false, true],
  );
  assert.equal((await filtered('with_merge_requests_enabled=true')).includes(off), true);
});

test('searches name and full path in any case without wildcards', async () => {
  const word = unique('needle');
  const group = await seedGroup(gantry, { path: `${word}-group` });
  const inGroup = await seedProject(gantry, { namespace: group.id });
  const byPath = await seedProject(gantry, { path: `x-${word.toUpperCase()}` });
  const byName = await seedProject(gantry);
  await gantry.api(`PUT /projects/${byName.id}`, { json: { name: `100 percent ${word}` } });
  const found = async (search: string) =>
    (await list(`/projects?order_by=id&sort=asc&search=${encodeURIComponent(search)}`, null)).ids;
  assert.deepEqual(await found(word), [inGroup.id, byPath.id, byName.id]);
  for (const wild of ['%', `${word.slice(0, 5)}%`, word.replace('-', '_'), '\\', "'"])
    assert.deepEqual(await found(wild), [], wild);
});

test('sorts by every key, then by id', async () => {
  const word = unique('sort');
  const group = await seedGroup(gantry);
  const make = async (path: string, at: number) => {
    gantry.setTime(at);
    return (await seedProject(gantry, { path: `${word}-${path}`, namespace: group.id })).id;
  };
  const [b, a, c] = [await make('b', 5_000), await make('A', 9_000), await make('c', 9_000)];
  gantry.setTime(null);
  const sorted = async (query: string) => (await list(`/projects?search=${word}&${query}`, null)).ids;
  assert.deepEqual(await sorted(''), [c, a, b]);
  assert.deepEqual(await sorted('sort=asc'), [b, a, c]);
  assert.deepEqual(await sorted('order_by=name&sort=asc'), [a, b, c]);
  assert.deepEqual(await sorted('order_by=path&sort=desc'), [c, b, a]);
  assert.deepEqual(await sorted('order_by=id&sort=desc'), [c, a, b]);
  assert.deepEqual(await sorted('order_by=updated_at'), [c, a, b]);
  assert.deepEqual(await sorted('order_by=last_activity_at&sort=asc'), [b, a, c]);
  const wrong = await gantry.api('GET /projects?order_by=stars');
  assert.deepEqual(wrong.body, { message: { order_by: ['does not have a valid value'] } });
});

test('uses the same number of statements for many projects as for one', async () => {
  const count = async (projects: number): Promise<number> => {
    const word = unique('many');
    const top = await seedGroup(gantry);
    for (let index = 0; index < projects; index += 1) {
      const group = await seedGroup(gantry, { parent: top.id });
      await seedProject(gantry, { path: `${word}-${index}`, namespace: group.id });
    }
    const { platform } = gantry.service;
    const viewer: Viewer = { ...anonymous, user_id: 1, admin: true };
    const call = { platform, db: platform.store.db, viewer, baseUrl: gantry.url, now: Date.now() } as Call;
    const meter: Meter = { statements: 0, milliseconds: 0 };
    const params = { search: word, order_by: 'id', sort: 'asc', page: 1, per_page: 20 } as const;
    const { items } = await runMetered(meter, async () => await listProjects(call, params));
    assert.equal(items.length, projects);
    return meter.statements;
  };
  assert.deepEqual([await count(1), await count(12)], [4, 4]);
});

test('filters by id, times and storage; refuses unknown filters', async () => {
  const { word, user, ids } = await world();
  const at = (day: number): number => Date.UTC(2020, 0, day);
  await gantry.service.platform.store.write(async ({ db }) => {
    const times = { last_activity_at: at(2), updated_at: at(4) };
    await db.updateTable('projects').set(times).where('id', '=', ids.open).execute();
  });
  const filtered = async (query: string, token = user.token) =>
    (await list(`/projects?order_by=id&sort=asc&search=${word}&${query}`, token)).ids;
  const [first, , , last] = [ids.open, ids.inner, ids.own, ids.joined];
  assert.deepEqual(await filtered(`id_before=${ids.inner}`), [first]);
  assert.deepEqual(await filtered(`id_after=${ids.inGroup}`), [last]);
  assert.deepEqual(await filtered('last_activity_before=2020-01-03'), [first]);
  assert.equal((await filtered('last_activity_after=2020-01-03')).includes(first), false);
  assert.deepEqual(await filtered('updated_before=2020-01-04'), [first]);
  assert.deepEqual(await filtered('imported=true'), []);
  assert.deepEqual(await filtered('active=false'), []);
  const admin = (await seedUser(gantry, { admin: 1 })).token;
  assert.deepEqual(await filtered('repository_storage=elsewhere', admin), []);
  assert.equal((await filtered('repository_storage=default', admin)).length, 6);
  const status = async (query: string) =>
    (await gantry.api(`GET /projects?${query}`, { as: user.token })).status;
  assert.equal(await status('repository_storage=default'), 403);
  for (const query of ['with_programming_language=Go', 'wiki_checksum_failed=true']) {
    assert.equal(await status(query), 400, query);
  }
  assert.equal(await status('wiki_checksum_failed=false&with_programming_language='), 200);
});

test('filters the lists of groups, users and forks alike', async () => {
  const owner = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: owner.id });
  const names = { topics: 'chosen', visibility: 'public' };
  for (const [path, more] of [
    [`/groups/${group.id}/projects`, { namespace_id: group.id }],
    [`/users/${owner.id}/projects`, {}],
  ] as const) {
    const create = async (json: object) =>
      (await gantry.api('POST /projects', { as: owner.token, json: { name: unique('of'), ...json } })).body
        .id;
    await create(more);
    const chosen = await create({ ...names, ...more });
    assert.deepEqual((await list(`${path}?topic=Chosen`, owner.token)).ids, [chosen]);
    assert.deepEqual(await list(`${path}?topic=none`, owner.token), { ids: [], total: '0' });
  }
});

test('`simple` returns the basic fields only', async () => {
  const { word, user } = await world();
  const reply = await gantry.api(`GET /projects?simple=true&search=${word}`, { as: user.token });
  for (const project of reply.body) {
    assert.equal(Object.keys(project).length, 19);
    assert.equal('visibility' in project, false);
  }
});

test('lists the projects in a user’s personal namespace', async () => {
  const user = await seedUser(gantry);
  const other = await seedUser(gantry);
  const open = await seedProject(gantry, { owner: user.id });
  const closed = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  const joined = await seedProject(gantry);
  await seedMember(gantry, { user: user.id, project: joined.id, access_level: 40 });
  for (const name of [user.id, user.username.toUpperCase()]) {
    assert.deepEqual((await list(`/users/${name}/projects?sort=asc`, user.token)).ids, [open.id, closed.id]);
    assert.deepEqual(await list(`/users/${name}/projects`, other.token), { ids: [open.id], total: '1' });
    assert.deepEqual(await list(`/users/${name}/projects`, null), { ids: [open.id], total: '1' });
  }
  assert.deepEqual((await list(`/users/${other.id}/projects`, user.token)).ids, []);
});

test('does not reveal users to anonymous callers', async () => {
  const user = await seedUser(gantry);
  await seedProject(gantry, { owner: user.id, visibility: 'internal' });
  for (const name of [user.id, user.username, 'nobody-of-that-name', 999_999_999]) {
    const reply = await gantry.api(`GET /users/${name}/projects`, { as: null });
    assert.deepEqual([reply.status, reply.text], [404, '{"message":"404 User Not Found"}']);
  }
});
