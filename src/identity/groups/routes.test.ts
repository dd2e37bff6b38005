import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type SeededUser,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;
let stranger: SeededUser;
before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
  stranger = await seedUser(gantry);
});
after(async () => await gantry.close());

const as = (user: SeededUser, json?: unknown) => ({ as: user.token, ...(json !== undefined && { json }) });

const create = async (attributes: object = {}, user = owner) => {
  const path = unique('made');
  const reply = await gantry.api('POST /groups', as(user, { name: path, path, ...attributes }));
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

/** Runs due work until the condition holds. */
const settled = async (isDone: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 100 && !(await isDone()); tries += 1) {
    await gantry.service.worker.drain();
    await wait(20);
  }
};

const ids = (list: { id: number }[]): number[] => list.map(({ id }) => id);

test('creates a group with every field, owned by its creator', async () => {
  const path = unique('full');
  const reply = await gantry.api(
    'POST /groups',
    as(owner, {
      name: 'Full (of it)',
      path,
      description: 'What for',
      visibility: 'internal',
      lfs_enabled: false,
    }),
  );
  assert.equal(reply.status, 201);
  const { id, created_at, ...rest } = reply.body;
  assert.match(created_at, /^\d{4}-.*Z$/);
  assert.deepEqual(rest, {
    web_url: `${gantry.url}/groups/${path}`,
    name: 'Full (of it)',
    path,
    description: 'What for',
    visibility: 'internal',
    project_creation_level: 'maintainer',
    subgroup_creation_level: 'owner',
    lfs_enabled: false,
    request_access_enabled: false,
    require_two_factor_authentication: false,
    share_with_group_lock: false,
    membership_lock: false,
    emails_disabled: false,
    mentions_disabled: false,
    emails_enabled: true,
    two_factor_grace_period: 48,
    default_branch_protection: 2,
    default_branch: null,
    auto_devops_enabled: null,
    shared_runners_setting: 'enabled',
    wiki_access_level: 'disabled',
    avatar_url: null,
    full_name: 'Full (of it)',
    full_path: path,
    parent_id: null,
    shared_with_groups: [],
  });
  const member = await gantry.api(`GET /groups/${id}/members/${owner.id}`, as(owner));
  assert.equal(member.body.access_level, 50);
});

test('a group is private by default', async () => {
  assert.equal((await create()).visibility, 'private');
});

test('a subgroup has the names of all groups above it', async () => {
  const top = await create({ name: 'Top' });
  const middle = await create({ name: 'Middle', parent_id: top.id });
  const low = await create({ name: 'Low', parent_id: middle.id });
  assert.equal(low.full_name, 'Top / Middle / Low');
  assert.equal(low.full_path, `${top.path}/${middle.path}/${low.path}`);
  assert.equal(low.parent_id, middle.id);
  const found = await gantry.api(`GET /groups/${encodeURIComponent(low.full_path.toUpperCase())}`, as(owner));
  assert.equal(found.body.id, low.id);
});

test('names the missing and invalid attributes of a new group', async () => {
  const taken = await create();
  const refusals: [object, unknown][] = [
    [{ path: 'x' }, '400 (Bad request) "name" not given'],
    [{ name: 'x' }, '400 (Bad request) "path" not given'],
    [
      { name: '', path: '' },
      { name: ["can't be blank"], path: ["can't be blank"] },
    ],
    [{ name: 'x', path: taken.path.toUpperCase() }, { path: ['has already been taken'] }],
    [{ name: 'x', path: owner.username }, { path: ['has already been taken'] }],
    [{ name: 'x', path: 'API' }, { path: ['API is a reserved name'] }],
    [{ name: 'x', path: unique('x'), visibility: 'secret' }, { visibility: ['does not have a valid value'] }],
    [
      { name: 'x', path: unique('x'), description: 'x'.repeat(256) },
      { description: ['is too long (maximum is 255 characters)'] },
    ],
  ];
  for (const [input, message] of refusals) {
    const reply = await gantry.api('POST /groups', as(owner, input));
    assert.deepEqual([reply.status, reply.body.message], [400, message], JSON.stringify(input));
  }
  for (const name of ['<b>', ' lead', 'a\nb', 'a\u202Eb']) {
    const reply = await gantry.api('POST /groups', as(owner, { name, path: unique('x') }));
    assert.match(reply.body.message.name[0], /^can contain only letters/, name);
  }
});

test('refuses users without the right to create groups', async () => {
  const { store } = gantry.service.platform;
  const user = await seedUser(gantry);
  await store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ can_create_group: 0 }).where('id', '=', user.id).execute(),
  );
  const path = unique('no');
  const reply = await gantry.api('POST /groups', as(user, { name: path, path }));
  assert.deepEqual([reply.status, reply.body], [403, { message: '403 Forbidden' }]);
  assert.equal((await gantry.api('POST /groups', { as: null, json: { name: path, path } })).status, 401);
});

test('only owners create subgroups; a hidden parent is answered like a missing one', async () => {
  const parent = await create({ visibility: 'public' });
  const hidden = await create();
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, group: parent.id, access_level: 40 });
  const attempt = async (parent_id: number) =>
    await gantry.api('POST /groups', as(master, { name: 'x', path: unique('x'), parent_id }));
  assert.equal((await attempt(parent.id)).status, 403);
  const replies = [await attempt(hidden.id), await attempt(999_999_999)];
  for (const reply of replies)
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Group Not Found' }]);
});

test('subgroups of one group have distinct names', async () => {
  const one = await create();
  const two = await create();
  await create({ name: 'Same', parent_id: one.id });
  await create({ name: 'Same', parent_id: two.id });
  const reply = await gantry.api(
    'POST /groups',
    as(owner, { name: 'Same', path: unique('x'), parent_id: one.id }),
  );
  assert.deepEqual(reply.body, { message: { name: ['has already been taken'] } });
});

test('of concurrent requests that create the same group, one succeeds', async () => {
  const path = unique('race');
  const replies = await Promise.all(
    [1, 2, 3, 4].map(() => gantry.api('POST /groups', as(owner, { name: path, path }))),
  );
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400, 400, 400],
  );
  for (const { status, body } of replies) {
    if (status === 400) assert.deepEqual(body, { message: { path: ['has already been taken'] } });
  }
});

test('groups nest at most twenty levels deep', async () => {
  let { id } = await create({ path: unique('n').slice(0, 8) });
  for (let level = 1; level <= 20; level += 1)
    ({ id } = await create({ name: 'n', path: 'n', parent_id: id }));
  const reply = await gantry.api('POST /groups', as(owner, { name: 'n', path: 'n', parent_id: id }));
  assert.deepEqual(reply.body, { message: { parent_id: ['has too deep level of nesting'] } });
});

test('limits full paths to 255 characters, also below a renamed group', async () => {
  const top = await create();
  const path = 'p'.repeat(200);
  const reply = await gantry.api(
    'POST /groups',
    as(owner, { name: 'p', path: 'q'.repeat(250), parent_id: top.id }),
  );
  assert.deepEqual(reply.body, { message: { path: ['is too long (maximum is 255 characters)'] } });
  await create({ path, parent_id: top.id });
  const renamed = await gantry.api(`PUT /groups/${top.id}`, as(owner, { path: 'r'.repeat(60) }));
  assert.deepEqual(renamed.body, { message: { path: ['is too long (maximum is 255 characters)'] } });
});

test('a group is never more visible than its parent', async () => {
  const parent = await create({ visibility: 'internal' });
  const wide = { name: 'x', path: unique('x'), parent_id: parent.id, visibility: 'public' };
  const reply = await gantry.api('POST /groups', as(owner, wide));
  const text = 'public is not allowed since the parent group has a internal visibility.';
  assert.deepEqual([reply.status, reply.body], [400, { message: { visibility_level: [text] } }]);

  const child = await create({ parent_id: parent.id, visibility: 'internal' });
  const widened = await gantry.api(`PUT /groups/${child.id}`, as(owner, { visibility: 'public' }));
  assert.deepEqual(widened.body, { message: { visibility_level: [text] } });
  const narrowed = await gantry.api(`PUT /groups/${parent.id}`, as(owner, { visibility: 'private' }));
  const below = 'private is not allowed since there are sub-groups with higher visibility.';
  assert.deepEqual(narrowed.body, { message: { visibility_level: [below] } });

  await seedProject(gantry, { namespace: child.id, visibility: 'internal' });
  const closed = await gantry.api(`PUT /groups/${child.id}`, as(owner, { visibility: 'private' }));
  const inside = 'private is not allowed since this group contains projects with higher visibility.';
  assert.deepEqual(closed.body, { message: { visibility_level: [inside] } });
});

test('owners change only the attributes that they send', async () => {
  const group = await create({ visibility: 'public', description: 'old' });
  const reply = await gantry.api(
    `PUT /groups/${group.id}`,
    as(owner, { name: 'New name', request_access_enabled: true }),
  );
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.body, {
    ...group,
    name: 'New name',
    full_name: 'New name',
    request_access_enabled: true,
  });
  assert.equal((await gantry.api(`PUT /groups/${group.id}`, as(stranger, { name: 'x' }))).status, 403);
  assert.equal((await gantry.api(`PUT /groups/${group.id}`, { as: null, json: { name: 'x' } })).status, 401);
  const nothing = await gantry.api(`PUT /groups/${group.id}`, as(owner, { owner_id: 1, kind: 'user' }));
  assert.equal(nothing.status, 400);
  assert.match(nothing.body.message, /^400 \(Bad request\) at least one of name, path, .* must be given$/);
});

test('renaming a group moves everything below it', async () => {
  const top = await create();
  const child = await create({ parent_id: top.id });
  const project = await seedProject(gantry, { namespace: child.id, owner: owner.id, visibility: 'private' });
  const path = unique('moved');
  const reply = await gantry.api(`PUT /groups/${top.id}`, as(owner, { path }));
  assert.equal(reply.body.full_path, path);
  assert.equal(reply.body.web_url, `${gantry.url}/groups/${path}`);
  const at = (fullPath: string) => gantry.api(`GET /projects/${encodeURIComponent(fullPath)}`, as(owner));
  const found = await at(`${path}/${child.path}/${project.path}`);
  assert.equal(found.body.id, project.id);
  assert.equal(found.body.path_with_namespace, `${path}/${child.path}/${project.path}`);
  assert.equal((await at(project.full_path)).body.id, project.id, 'by its old path, too');
  const upper = await gantry.api(`PUT /groups/${top.id}`, as(owner, { path: path.toUpperCase() }));
  assert.equal(upper.body.full_path, path.toUpperCase());
});

test('a removed group disappears at once with everything below it and frees its paths', async () => {
  const top = await create();
  const child = await create({ parent_id: top.id });
  const project = await seedProject(gantry, { namespace: child.id, visibility: 'private' });
  const issue = await seedIssue(gantry, { project: project.id });
  assert.equal((await gantry.api(`DELETE /groups/${top.id}`, as(stranger))).status, 404);
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, group: top.id, access_level: 40 });
  assert.equal((await gantry.api(`DELETE /groups/${top.id}`, as(master))).status, 403);
  const reply = await gantry.api(`DELETE /groups/${top.id}`, as(owner));
  assert.deepEqual([reply.status, reply.body], [202, { message: '202 Accepted' }]);
  const gone: [string, string][] = [
    [`/groups/${top.id}`, '404 Group Not Found'],
    [`/groups/${child.id}`, '404 Group Not Found'],
    [`/groups/${encodeURIComponent(child.full_path)}/projects`, '404 Group Not Found'],
    [`/groups/${child.id}/members`, '404 Group Not Found'],
    [`/namespaces/${top.id}`, '404 Namespace Not Found'],
    [`/projects/${project.id}`, '404 Project Not Found'],
    [`/projects/${project.id}/issues/${issue.iid}`, '404 Project Not Found'],
  ];
  for (const [path, message] of gone) {
    const read = await gantry.api(`GET ${path}`);
    assert.deepEqual([read.status, read.body], [404, { message }], path);
  }
  assert.equal((await gantry.api(`DELETE /groups/${top.id}`)).status, 404);
  const inside = await gantry.api('POST /projects', { json: { name: 'x', namespace_id: top.id } });
  assert.deepEqual(inside.body, { message: { namespace: ['is not valid'] } });
  const again = await create({ path: top.path });
  assert.notEqual(again.id, top.id);

  const { db } = gantry.service.platform.store;
  const countRemaining = async () => {
    const groups = await db
      .selectFrom('namespaces')
      .select('id')
      .where('id', 'in', [top.id, child.id])
      .execute();
    const projects = await db.selectFrom('projects').select('id').where('id', '=', project.id).execute();
    const issues = await db.selectFrom('issues').select('id').where('id', '=', issue.id).execute();
    const members = await db
      .selectFrom('members')
      .select('id')
      .where('source_type', '=', 'Namespace')
      .where('source_id', 'in', [top.id, child.id])
      .execute();
    return [groups, projects, issues, members].map(({ length }) => length);
  };
  await settled(async () => (await countRemaining())[1] === 0);
  assert.deepEqual(await countRemaining(), [2, 0, 0, 3], 'projects go first, each by work of its own');
  gantry.setTime(Date.now() + 60_000);
  await settled(async () => (await countRemaining())[0] === 0);
  assert.deepEqual(await countRemaining(), [0, 0, 0, 0]);
  gantry.setTime(null);
});

test('does not remove a group that changed since it was read', async () => {
  const group = await create();
  const headers = { 'if-unmodified-since': 'Sun, 06 Nov 1994 08:49:37 GMT' };
  const reply = await gantry.api(`DELETE /groups/${group.id}`, { ...as(owner), headers });
  assert.deepEqual([reply.status, reply.body], [412, { message: '412 Precondition Failed' }]);
  assert.equal((await gantry.api(`GET /groups/${group.id}`, as(owner))).status, 200);
});

test('shows the visible projects of a group on demand', async () => {
  const group = await create({ visibility: 'public' });
  const open = await seedProject(gantry, { namespace: group.id, visibility: 'public' });
  const closed = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const mine = await gantry.api(`GET /groups/${group.id}`, as(owner));
  assert.deepEqual(
    ids(mine.body.projects).toSorted((a, b) => a - b),
    [open.id, closed.id].toSorted((a, b) => a - b),
  );
  assert.deepEqual(mine.body.shared_projects, []);
  const theirs = await gantry.api(`GET /groups/${group.id}`, as(stranger));
  assert.deepEqual(ids(theirs.body.projects), [open.id]);
  const anybody = await gantry.api(`GET /groups/${group.id}`, { as: null });
  assert.deepEqual(ids(anybody.body.projects), [open.id]);
  assert.equal('creator_id' in anybody.body.projects[0], false);
  const bare = await gantry.api(`GET /groups/${group.id}?with_projects=false`, as(owner));
  assert.equal('projects' in bare.body, false);
});

test('lists the projects of a group, with its subgroups on demand', async () => {
  const group = await create({ visibility: 'public' });
  const child = await create({ visibility: 'public', parent_id: group.id });
  const own = await seedProject(gantry, { namespace: group.id });
  const below = await seedProject(gantry, { namespace: child.id });
  const hidden = await seedProject(gantry, { namespace: child.id, visibility: 'private' });
  const list = async (query: string, user: SeededUser) => {
    const reply = await gantry.api(`GET /groups/${group.id}/projects?order_by=id&sort=asc${query}`, as(user));
    assert.equal(reply.headers.get('x-total'), String(reply.body.length));
    return ids(reply.body);
  };
  assert.deepEqual(await list('', stranger), [own.id]);
  assert.deepEqual(await list('&include_subgroups=true', stranger), [own.id, below.id]);
  assert.deepEqual(await list('&include_subgroups=true', owner), [own.id, below.id, hidden.id]);
});

test('lists own, owned or all visible groups', async () => {
  const user = await seedUser(gantry);
  const open = await create({ visibility: 'public' });
  const hidden = await create();
  const owned = await create({}, user);
  const joined = await create();
  await seedMember(gantry, { user: user.id, group: joined.id, access_level: 10 });
  const below = await create({ parent_id: joined.id });
  const through = await create();
  const project = await seedProject(gantry, { namespace: through.id, visibility: 'private' });
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 10 });
  const list = async (query: string, token: string | null) => {
    const reply = await gantry.api(`GET /groups?per_page=100&order_by=id${query}`, { as: token });
    assert.equal(reply.headers.get('x-total'), String(reply.body.length));
    return new Set(ids(reply.body));
  };
  const mine = [owned.id, joined.id, below.id, through.id];
  assert.deepEqual(await list('', user.token), new Set(mine));
  assert.deepEqual(await list('&owned=true', user.token), new Set([owned.id]));
  const all = await list('&all_available=true', user.token);
  assert.deepEqual(
    [...mine, open.id].filter((id) => !all.has(id)),
    [],
  );
  assert.equal(all.has(hidden.id), false);
  const anybody = await list('', null);
  assert.equal(anybody.has(open.id), true);
  assert.deepEqual(
    [...mine, hidden.id].filter((id) => anybody.has(id)),
    [],
  );
  assert.deepEqual(await list('&owned=true', null), new Set());
  const everything = await list('', (await seedUser(gantry, { admin: 1 })).token);
  assert.equal(everything.has(hidden.id), true);
});

test('searches, sorts and pages lists of groups', async () => {
  const word = unique('find');
  const one = await create({ name: `${word} B` });
  const two = await create({ name: `${word} a`, path: unique('Z') });
  const three = await create({ name: 'other', path: `${word}-c` });
  await create({ name: word.replace('-', '_') });
  const list = async (query: string) => {
    const reply = await gantry.api(`GET /groups?search=${word.toUpperCase()}${query}`, as(owner));
    return { ids: ids(reply.body), total: reply.headers.get('x-total') };
  };
  assert.deepEqual(await list(''), { ids: [two.id, one.id, three.id], total: '3' });
  assert.deepEqual((await list('&order_by=id&sort=desc')).ids, [three.id, two.id, one.id]);
  assert.deepEqual((await list('&order_by=path')).ids, [three.id, one.id, two.id]);
  assert.deepEqual(await list(`&skip_groups[]=${one.id}&skip_groups[]=${two.id}`), {
    ids: [three.id],
    total: '1',
  });
  assert.deepEqual(await list('&per_page=1&page=2'), { ids: [one.id], total: '3' });
  assert.deepEqual((await list('%25')).ids, []);
});

test('subgroups are listed, and all descendants', async () => {
  const top = await create({ visibility: 'public' });
  const child = await create({ visibility: 'public', parent_id: top.id });
  const secret = await create({ parent_id: top.id });
  const deep = await create({ visibility: 'public', parent_id: child.id });
  const list = async (what: string, user: SeededUser) =>
    ids((await gantry.api(`GET /groups/${top.id}/${what}?all_available=true&order_by=id`, as(user))).body);
  assert.deepEqual(await list('subgroups', owner), [child.id, secret.id]);
  assert.deepEqual(await list('subgroups', stranger), [child.id]);
  assert.deepEqual(await list('descendant_groups', owner), [child.id, secret.id, deep.id]);
  assert.deepEqual(await list('descendant_groups', stranger), [child.id, deep.id]);
});

test('answers a hidden group like a missing one on every endpoint', async () => {
  const hidden = await create();
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['PUT', '', { name: 'x' }],
    ['DELETE', ''],
    ['GET', '/projects'],
    ['GET', '/subgroups'],
    ['GET', '/descendant_groups'],
    ['GET', '/members'],
    ['GET', '/members/all'],
    ['GET', `/members/${owner.id}`],
    ['POST', '/members', { user_id: stranger.id, access_level: 10 }],
    ['PUT', `/members/${owner.id}`, { access_level: 10 }],
    ['DELETE', `/members/${owner.id}`],
  ];
  for (const [method, rest, json] of requests) {
    const [one, other, byPath] = await Promise.all(
      [hidden.id, 999_999_999, hidden.path].map((id) =>
        gantry.api(`${method} /groups/${id}${rest}`, as(stranger, json)),
      ),
    );
    assert.deepEqual([one!.status, one!.text], [404, '{"message":"404 Group Not Found"}'], rest);
    assert.deepEqual([other!.status, other!.text], [one!.status, one!.text]);
    assert.deepEqual([byPath!.status, byPath!.text], [one!.status, one!.text]);
  }
});

test('records one event with its cause for each change of a group', async () => {
  const group = await create();
  await gantry.api(`PUT /groups/${group.id}`, as(owner, { description: 'new' }));
  await gantry.api(`PUT /groups/${group.id}`, as(owner, { description: 'new' }));
  await gantry.api(`DELETE /groups/${group.id}`, as(owner));
  const events = await gantry.service.platform.store.db
    .selectFrom('events')
    .select(['kind', 'actor_id', 'data'])
    .where('target_type', '=', 'Group')
    .where('target_id', '=', group.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['group.created', 'group.updated', 'group.removed'],
  );
  assert.deepEqual(JSON.parse(events[1]!.data), { description: ['', 'new'] });
  assert.deepEqual(new Set(events.map(({ actor_id }) => actor_id)), new Set([owner.id]));
});
