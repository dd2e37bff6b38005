import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let reporter: SeededUser;
let guest: SeededUser;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService();
  [reporter, guest, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

/** Creates a project with a reporter and a guest. */
const project = async (attributes: Parameters<typeof seedProject>[1] = {}): Promise<SeededProject> => {
  const made = await seedProject(gantry, attributes);
  await seedMember(gantry, { user: reporter.id, project: made.id, access_level: 20 });
  await seedMember(gantry, { user: guest.id, project: made.id, access_level: 10 });
  return made;
};

const create = async (id: number, name: string, rest: object = {}, where = 'projects') =>
  await gantry.api(`POST /${where}/${id}/labels`, { json: { name, color: '#FFAABB', ...rest } });

const statuses = (replies: Reply[]): number[] =>
  replies.map((reply) => reply.status).toSorted((a, b) => a - b);

const version = async (id: number): Promise<number> => {
  const { db } = gantry.service.platform.store;
  const query = db.selectFrom('project_counters').select('issues_version').where('project_id', '=', id);
  return (await query.executeTakeFirstOrThrow()).issues_version;
};

test('creates a label, lists by title and reads by id or title', async () => {
  const { id } = await project();
  const made = await create(id, ' bug: a & b? ', { description: 'Broken', priority: 3 });
  assert.equal(made.status, 201);
  const expected = {
    id: made.body.id,
    name: 'bug: a & b?',
    color: '#FFAABB',
    text_color: '#333333',
    description: 'Broken',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
    priority: 3,
    is_project_label: true,
  };
  assert.deepEqual(made.body, expected);
  await create(id, 'Alpha');
  const list = await gantry.api(`GET /projects/${id}/labels`);
  assert.deepEqual(
    list.body.map((label: { name: string }) => label.name),
    ['Alpha', 'bug: a & b?'],
  );
  assert.equal(list.headers.get('x-total'), '2');
  assert.deepEqual((await gantry.api(`GET /projects/${id}/labels/${made.body.id}`)).body, expected);
  const byTitle = `GET /projects/${id}/labels/${encodeURIComponent('bug: a & b?')}`;
  assert.deepEqual((await gantry.api(byTitle)).body, expected);
});

test('finds a label by its numeric title unless another label has that id', async () => {
  const { id } = await project();
  const made = await create(id, '007');
  const found = await gantry.api(`GET /projects/${id}/labels/007`);
  assert.equal(found.body.id, made.body.id);
  const namesake = await create(id, String(made.body.id + 2));
  const twin = await create(id, 'twin');
  assert.equal(twin.body.id, Number(namesake.body.name));
  assert.equal((await gantry.api(`GET /projects/${id}/labels/${twin.body.id}`)).body.name, 'twin');
  const byName = await gantry.api(`PUT /projects/${id}/labels`, {
    json: { name: namesake.body.name, color: 'red' },
  });
  assert.equal(byName.body.id, namesake.body.id, 'a name is a title, never an id');
});

test('colors are #RGB, #RRGGBB or CSS names', async () => {
  const { id } = await project();
  assert.equal((await create(id, 'short', { color: '#abc' })).body.color, '#abc');
  assert.equal((await create(id, 'named', { color: 'Red' })).body.color, '#ff0000');
  assert.equal((await create(id, 'dark', { color: '#000000' })).body.text_color, '#FFFFFF');
  for (const color of ['#ABCD', '#FFAAFFFF', 'ruddy', 'FFAABB', '', '#ggg']) {
    const reply = await create(id, 'odd', { color });
    assert.deepEqual(
      [reply.status, reply.body],
      [400, { message: { color: ['must be a valid color code'] } }],
    );
  }
  const none = await gantry.api(`POST /projects/${id}/labels`, { json: { name: 'none' } });
  assert.deepEqual([none.status, none.body.message], [400, '400 (Bad request) "color" not given']);
});

test('refuses titles that are blank, too long or have a comma', async () => {
  const { id } = await project();
  const problem = async (name: string) => (await create(id, name)).body.message;
  assert.deepEqual(await problem('  '), { title: ["can't be blank"] });
  assert.deepEqual(await problem('a, b'), { title: ['is invalid'] });
  assert.deepEqual(await problem('x'.repeat(256)), { title: ['is too long (maximum is 255 characters)'] });
  assert.equal((await create(id, '\u{1F600}'.repeat(255))).status, 201);
});

test('refuses the title of another label, also an inherited one', async () => {
  const group = await seedGroup(gantry);
  const { id } = await project({ namespace: group.id });
  assert.equal((await create(group.id, 'shared', {}, 'groups')).status, 201);
  for (const name of ['shared', 'own', 'own']) await create(id, name);
  const again = await create(id, 'own');
  assert.deepEqual([again.status, again.body], [409, { message: 'Label already exists' }]);
  assert.equal((await create(id, 'shared')).status, 409);
  const renamed = await gantry.api(`PUT /projects/${id}/labels/own`, { json: { new_name: 'shared' } });
  assert.deepEqual([renamed.status, renamed.body], [400, { message: { title: ['has already been taken'] } }]);
});

test('of two concurrent creations of a label, one succeeds', async () => {
  const { id } = await project();
  for (let round = 0; round < 8; round += 1) {
    const replies = await Promise.all(Array.from({ length: 6 }, () => create(id, `race ${round}`)));
    assert.deepEqual(statuses(replies), [201, 409, 409, 409, 409, 409]);
    const refusals = replies.filter((reply) => reply.status === 409).map((reply) => reply.body.message);
    assert.deepEqual([...new Set(refusals)], ['Label already exists']);
  }
});

test('edits a label by the name in the parameters, as release 10.0 does', async () => {
  const { id } = await project();
  const made = await create(id, 'old', { description: 'x', priority: 1 });
  const was = await version(id);
  const edit = { name: 'old', new_name: 'new', color: 'blue', description: null, priority: null };
  const reply = await gantry.api(`PUT /projects/${id}/labels`, { json: edit });
  assert.equal(reply.status, 200);
  const { name, color, description, priority } = reply.body;
  assert.deepEqual(
    [reply.body.id, name, color, description, priority],
    [made.body.id, 'new', '#0000ff', null, null],
  );
  assert.ok((await version(id)) > was, 'cached lists of issues are old');
  const nothing = await gantry.api(`PUT /projects/${id}/labels`, { json: { name: 'new' } });
  assert.equal(
    nothing.body.message,
    '400 (Bad request) at least one of new_name, color, description, priority must be given',
  );
  const unnamed = await gantry.api(`PUT /projects/${id}/labels`, { json: { color: 'red' } });
  assert.equal(unnamed.body.message, '400 (Bad request) "name" not given');
  const missing = await gantry.api(`PUT /projects/${id}/labels`, { json: { name: 'old', color: 'red' } });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Label Not Found' }]);
});

test('edits and deletes a label under its own path', async () => {
  const { id } = await project();
  const made = await create(id, 'one');
  const path = `/projects/${id}/labels/${made.body.id}`;
  assert.equal((await gantry.api(`PUT ${path}`, { json: { new_name: 'two' } })).body.name, 'two');
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 204);
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 404);
});

test('deletes a label with its links unless it changed since', async () => {
  const { id } = await project();
  const made = await create(id, 'gone');
  const issue = await seedIssue(gantry, { project: id, labels: [made.body.id] });
  const was = await version(id);
  const old = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  assert.equal((await gantry.api(`DELETE /projects/${id}/labels?name=gone`, { headers: old })).status, 412);
  const gone = await gantry.api(`DELETE /projects/${id}/labels?name=gone`);
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.ok((await version(id)) > was);
  const { db } = gantry.service.platform.store;
  const links = await db.selectFrom('label_links').selectAll().where('target_id', '=', issue.id).execute();
  assert.deepEqual(links, []);
  assert.equal(
    (await gantry.api(`DELETE /projects/${id}/labels`)).body.message,
    '400 (Bad request) "name" not given',
  );
});

test('does not find a label of another project', async () => {
  const [mine, theirs] = [await project(), await project()];
  const made = await create(theirs.id, 'theirs');
  for (const line of ['GET', 'PUT', 'DELETE'].map(
    (method) => `${method} /projects/${mine.id}/labels/${made.body.id}`,
  )) {
    assert.equal(
      (await gantry.api(line, { json: line.startsWith('PUT') ? { color: 'red' } : undefined })).status,
      404,
    );
  }
  assert.equal((await gantry.api(`GET /projects/${theirs.id}/labels/theirs`)).status, 200);
});

test('counts the issues that the caller sees', async () => {
  const { id } = await project();
  const label = (await create(id, 'counted')).body.id;
  const labels = [label];
  await seedIssue(gantry, { project: id, labels });
  await seedIssue(gantry, { project: id, labels, state: 'closed' });
  await seedIssue(gantry, { project: id, labels, confidential: 1 });
  await seedIssue(gantry, { project: id, labels, confidential: 1, assignees: [stranger.id] });
  await seedIssue(gantry, { project: id, labels, deleted: true });
  const seen = async (as: string) => {
    const [one] = (await gantry.api(`GET /projects/${id}/labels`, { as })).body;
    return [one.open_issues_count, one.closed_issues_count];
  };
  assert.deepEqual(await seen(reporter.token), [3, 1]);
  assert.deepEqual(await seen(guest.token), [1, 1]);
  assert.deepEqual(await seen(stranger.token), [2, 1]);
  const [bare] = (await gantry.api(`GET /projects/${id}/labels?with_counts=false`)).body;
  assert.equal('open_issues_count' in bare, false);
});

test('counts of a group label omit issues of hidden projects', async () => {
  const group = await seedGroup(gantry);
  const open = await seedProject(gantry, { namespace: group.id });
  const hidden = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const members = await seedProject(gantry, { namespace: group.id, issues_access_level: 'private' });
  const label = (await create(group.id, 'wide', {}, 'groups')).body.id;
  for (const { id } of [open, hidden, members]) await seedIssue(gantry, { project: id, labels: [label] });
  const count = async (as?: string) =>
    (await gantry.api(`GET /groups/${group.id}/labels`, as === undefined ? {} : { as })).body[0]
      .open_issues_count;
  assert.equal(await count(stranger.token), 1);
  assert.equal(await count(), 3);
});

test('a project lists the labels of the groups above it by default', async () => {
  const top = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: top.id });
  const other = await seedGroup(gantry);
  const { id } = await project({ namespace: below.id });
  await create(top.id, 'a top', {}, 'groups');
  await create(below.id, 'b below', {}, 'groups');
  await create(other.id, 'c other', {}, 'groups');
  await create(id, 'd own');
  const names = async (line: string) =>
    (await gantry.api(line)).body.map((label: { name: string }) => label.name);
  assert.deepEqual(await names(`GET /projects/${id}/labels`), ['a top', 'b below', 'd own']);
  assert.deepEqual(await names(`GET /projects/${id}/labels?include_ancestor_groups=false`), ['d own']);
  assert.deepEqual(await names(`GET /groups/${below.id}/labels`), ['a top', 'b below']);
  assert.deepEqual(await names(`GET /groups/${below.id}/labels?include_ancestor_groups=0`), ['b below']);
  const inherited = await gantry.api(`GET /projects/${id}/labels/a%20top`);
  assert.equal(inherited.body.is_project_label, false);
  const own = await gantry.api(`GET /projects/${id}/labels/a%20top?include_ancestor_groups=false`);
  assert.equal(own.status, 404);
  const edit = await gantry.api(`PUT /projects/${id}/labels/a%20top`, { json: { color: 'red' } });
  assert.equal(edit.status, 404, 'a project does not edit what it inherits');
  assert.equal((await gantry.api(`DELETE /projects/${id}/labels/a%20top`)).status, 404);
});

test('a group lists the labels of visible groups and projects below it', async () => {
  const top = await seedGroup(gantry, { visibility: 'public' });
  const below = await seedGroup(gantry, { parent: top.id, visibility: 'public' });
  const hidden = await seedGroup(gantry, { parent: top.id, visibility: 'private' });
  await create(top.id, 'a top', {}, 'groups');
  await create(below.id, 'b below', {}, 'groups');
  await create(hidden.id, 'c hidden', {}, 'groups');
  const direct = await project({ namespace: top.id, visibility: 'public' });
  const deep = await project({ namespace: below.id, visibility: 'public' });
  const secret = await project({ namespace: top.id, visibility: 'private' });
  await create(direct.id, 'd direct');
  await create(deep.id, 'e deep');
  await create(secret.id, 'f secret');
  const names = async (query: string, as?: string): Promise<string[]> => {
    const reply = await gantry.api(`GET /groups/${top.id}/labels?${query}`, as === undefined ? {} : { as });
    assert.equal(reply.headers.get('x-total'), String(reply.body.length));
    return reply.body.map((label: { name: string }) => label.name[0]);
  };
  assert.deepEqual(await names(''), ['a']);
  assert.deepEqual(await names('include_descendant_groups=true'), ['a', 'b', 'c']);
  assert.deepEqual(await names('only_group_labels=false'), ['a', 'd', 'f']);
  const all = 'include_descendant_groups=true&only_group_labels=false';
  assert.deepEqual(await names(all), ['a', 'b', 'c', 'd', 'e', 'f']);
  assert.deepEqual(await names(all, stranger.token), ['a', 'b', 'd', 'e']);
  assert.deepEqual(await names(all, guest.token), ['a', 'b', 'd', 'e', 'f']);
  await gantry.api(`POST /projects/${direct.id}/archive`);
  assert.deepEqual(await names('only_group_labels=false'), ['a', 'f']);
});

test('searches title and description with literal pattern characters', async () => {
  const { id } = await project();
  await create(id, 'Broken');
  await create(id, 'other', { description: 'was BROKEN once' });
  await create(id, '100%_sure');
  await create(id, '100 sure');
  const names = async (search: string) => {
    const reply = await gantry.api(`GET /projects/${id}/labels?search=${encodeURIComponent(search)}`);
    assert.equal(reply.headers.get('x-total'), String(reply.body.length));
    return reply.body.map((label: { name: string }) => label.name);
  };
  assert.deepEqual(await names('broken'), ['Broken', 'other']);
  assert.deepEqual(await names('0%_'), ['100%_sure']);
  assert.deepEqual(await names('\\'), []);
  assert.equal((await names('')).length, 4);
});

test('subscribing and unsubscribing answer the label once, then 304', async () => {
  const { id } = await project();
  const path = `/projects/${id}/labels/${(await create(id, 'news')).body.id}`;
  const as = guest.token;
  assert.equal((await gantry.api(`POST ${path}/unsubscribe`, { as })).status, 304);
  const on = await gantry.api(`POST ${path}/subscribe`, { as });
  assert.deepEqual([on.status, on.body.subscribed], [201, true]);
  assert.equal((await gantry.api(`POST ${path}/subscribe`, { as })).status, 304);
  assert.equal((await gantry.api(`GET ${path}`)).body.subscribed, false, 'others are not');
  const off = await gantry.api(`POST /projects/${id}/labels/news/unsubscribe`, { as });
  assert.deepEqual([off.status, off.body.subscribed], [201, false]);
  assert.equal((await gantry.api(`POST ${path}/subscribe`, { as })).status, 201);
  const at_once = await Promise.all(
    Array.from({ length: 4 }, () => gantry.api(`POST ${path}/subscribe`, { as: stranger.token })),
  );
  assert.deepEqual(statuses(at_once), [201, 304, 304, 304]);
});

test('renames a group label for all projects below', async () => {
  const top = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: top.id });
  const { id } = await project({ namespace: below.id });
  const elsewhere = await project();
  const label = (await create(top.id, 'before', {}, 'groups')).body;
  assert.equal(label.is_project_label, false);
  const [inside, outside] = [await version(id), await version(elsewhere.id)];
  const reply = await gantry.api(`PUT /groups/${top.id}/labels`, {
    json: { name: 'before', new_name: 'after' },
  });
  assert.equal(reply.body.name, 'after');
  assert.equal(await version(id), inside + 1);
  assert.equal(await version(elsewhere.id), outside);
  assert.equal((await gantry.api(`DELETE /groups/${top.id}/labels?name=after`)).status, 204);
});

test('refuses callers without the right, and hides labels from others', async () => {
  const open = await project();
  const closed = await project({ visibility: 'private' });
  const label = (await create(open.id, 'kept')).body.id;
  const json = { name: 'x', color: '#fff' };
  const writes = [
    `POST /projects/${open.id}/labels`,
    `PUT /projects/${open.id}/labels/${label}`,
    `DELETE /projects/${open.id}/labels/${label}`,
  ];
  for (const line of writes) {
    for (const as of [guest.token, stranger.token]) {
      assert.equal((await gantry.api(line, { as, json: { ...json, new_name: 'y' } })).status, 403, line);
    }
    assert.equal((await gantry.api(line, { as: null, json })).status, 401, line);
  }
  assert.equal((await gantry.api(`GET /projects/${open.id}/labels`, { as: null })).status, 401);
  const hidden = await gantry.api(`GET /projects/${closed.id}/labels`, { as: stranger.token });
  const missing = await gantry.api('GET /projects/999999/labels', { as: stranger.token });
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.equal(
    (await gantry.api(`POST /projects/${closed.id}/labels`, { as: stranger.token, json })).status,
    404,
  );
  const ok = await gantry.api(`POST /projects/${closed.id}/labels`, { as: reporter.token, json });
  assert.equal(ok.status, 201);
  assert.equal((await gantry.api(`GET /projects/${closed.id}/labels`, { as: guest.token })).status, 200);
});

test('shows labels to members only if issues and merge requests are private', async () => {
  const { id } = await project({ issues_access_level: 'private' });
  assert.equal((await gantry.api(`GET /projects/${id}/labels`, { as: stranger.token })).status, 200);
  const off = { merge_requests_access_level: 'disabled' } as const;
  await gantry.service.platform.store.write(async (tx) => {
    await tx.db.updateTable('projects').set(off).where('id', '=', id).execute();
  });
  assert.equal((await gantry.api(`GET /projects/${id}/labels`, { as: stranger.token })).status, 403);
  assert.equal((await gantry.api(`GET /projects/${id}/labels`, { as: guest.token })).status, 200);
});

test('reporters change labels of a group, which are hidden with it', async () => {
  const group = await seedGroup(gantry, { visibility: 'private', path: unique('secret') });
  await seedMember(gantry, { user: reporter.id, group: group.id, access_level: 20 });
  await seedMember(gantry, { user: guest.id, group: group.id, access_level: 10 });
  const json = { name: 'x', color: '#fff' };
  const status = async (line: string, as: string) => (await gantry.api(line, { as, json })).status;
  assert.equal(await status(`POST /groups/${group.id}/labels`, stranger.token), 404);
  assert.equal(await status(`POST /groups/${group.id}/labels`, guest.token), 403);
  assert.equal(await status(`POST /groups/${group.id}/labels`, reporter.token), 201);
  assert.equal((await gantry.api(`GET /groups/${group.id}/labels`, { as: guest.token })).body.length, 1);
  assert.equal((await gantry.api(`GET /groups/${group.id}/labels`, { as: stranger.token })).status, 404);
});

test('records each change once in the change log', async () => {
  const { id } = await project();
  const { body } = await create(id, 'logged');
  await gantry.api(`PUT /projects/${id}/labels/logged`, { json: { color: '#FFAABB' } });
  await gantry.api(`PUT /projects/${id}/labels/logged`, { json: { color: '#000' } });
  await gantry.api(`DELETE /projects/${id}/labels/logged`);
  const { db } = gantry.service.platform.store;
  const rows = await db
    .selectFrom('events')
    .select('kind')
    .where('target_type', '=', 'Label')
    .where('target_id', '=', body.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    rows.map((row) => row.kind),
    ['label.created', 'label.updated', 'label.deleted'],
  );
});

const promote = async (id: number, label: number, as?: string) =>
  await gantry.api(`PUT /projects/${id}/labels/${label}/promote`, as === undefined ? {} : { as });

test('promotes a label to the group, in place of those of the same title below the group', async () => {
  const group = await seedGroup(gantry);
  const first = await project({ namespace: group.id });
  const second = await project({ namespace: group.id });
  const outside = await project({ namespace: (await seedGroup(gantry)).id });
  const label = (await create(first.id, 'shared', { priority: 2 })).body;
  const twin = (await create(second.id, 'shared', { color: '#000000' })).body;
  const other = (await create(outside.id, 'shared')).body;
  const issue = (
    await gantry.api(`POST /projects/${second.id}/issues`, { json: { title: 'One', labels: 'shared' } })
  ).body;
  await gantry.api(`POST /projects/${second.id}/labels/${twin.id}/subscribe`);

  const reply = await promote(first.id, label.id);
  assert.equal(reply.status, 200);
  assert.deepEqual(
    [reply.body.id, reply.body.color, reply.body.is_project_label, reply.body.subscribed],
    [label.id, '#FFAABB', false, true],
  );
  const ofGroup = (await gantry.api(`GET /groups/${group.id}/labels`)).body;
  assert.deepEqual(
    ofGroup.map(({ id, open_issues_count }: { id: number; open_issues_count: number }) => [
      id,
      open_issues_count,
    ]),
    [[label.id, 1]],
  );
  const listed = (await gantry.api(`GET /projects/${second.id}/issues?labels=shared`)).body;
  assert.deepEqual(
    listed.map(({ iid }: { iid: number }) => iid),
    [issue.iid],
  );
  const events = `GET /projects/${second.id}/issues/${issue.iid}/resource_label_events`;
  assert.equal((await gantry.api(events)).body[0].label.id, label.id);
  assert.equal((await gantry.api(`GET /projects/${outside.id}/labels/${other.id}`)).status, 200);
});

test('refuses to promote a label without the right in the group, and one of a personal project', async () => {
  const group = await seedGroup(gantry, { visibility: 'public' });
  const { id } = await project({ namespace: group.id });
  const label = (await create(id, 'kept')).body.id;
  assert.equal((await promote(id, label, reporter.token)).status, 403);
  const personal = await project();
  const own = (await create(personal.id, 'kept')).body.id;
  const refused = await promote(personal.id, own);
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'The project does not belong to a group' }],
  );
  assert.equal((await gantry.api(`GET /projects/${id}/labels/${label}`)).body.is_project_label, true);
});

test('refuses to promote a label whose title a group above has meanwhile', async () => {
  const group = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: group.id });
  const { id } = await project({ namespace: below.id });
  const label = (await create(id, 'taken')).body.id;
  assert.equal((await create(group.id, 'taken', {}, 'groups')).status, 201);
  const refused = await promote(id, label);
  assert.deepEqual([refused.status, refused.body], [400, { message: { title: ['has already been taken'] } }]);
});
