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
let developer: SeededUser;
let reporter: SeededUser;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService();
  [developer, reporter, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

const project = async (attributes: Parameters<typeof seedProject>[1] = {}): Promise<SeededProject> => {
  const made = await seedProject(gantry, attributes);
  await seedMember(gantry, { user: developer.id, project: made.id, access_level: 30 });
  await seedMember(gantry, { user: reporter.id, project: made.id, access_level: 20 });
  return made;
};

const create = async (id: number, title: string, rest: object = {}, where = 'projects'): Promise<Reply> =>
  await gantry.api(`POST /${where}/${id}/milestones`, { json: { title, ...rest } });

const titles = async (line: string): Promise<string[]> => {
  const reply = await gantry.api(line);
  assert.equal(reply.headers.get('x-total'), String(reply.body.length));
  return reply.body.map((milestone: { title: string }) => milestone.title);
};

const version = async (id: number): Promise<number> => {
  const { db } = gantry.service.platform.store;
  const query = db.selectFrom('project_counters').select('issues_version').where('project_id', '=', id);
  return (await query.executeTakeFirstOrThrow()).issues_version;
};

test('creates a milestone with every field of the contract', async () => {
  const { id } = await project();
  gantry.setTime(Date.UTC(2017, 9, 1, 12));
  const rest = { description: 'First', start_date: '2017-10-01', due_date: '2017-10-31' };
  const made = await create(id, ' v1 ', rest);
  gantry.setTime(null);
  assert.equal(made.status, 201);
  const expected = {
    id: made.body.id,
    iid: 1,
    project_id: id,
    title: 'v1',
    description: 'First',
    state: 'active',
    created_at: '2017-10-01T12:00:00.000Z',
    updated_at: '2017-10-01T12:00:00.000Z',
    due_date: '2017-10-31',
    start_date: '2017-10-01',
    expired: false,
    web_url: made.body.web_url,
  };
  assert.ok(made.body.web_url.endsWith('/-/milestones/1'));
  assert.deepEqual(made.body, expected);
  const later = (await gantry.api(`GET /projects/${id}/milestones/${made.body.id}`)).body;
  assert.deepEqual(later, { ...expected, expired: true });
  const bare = (await create(id, 'v2')).body;
  assert.deepEqual([bare.iid, bare.description, bare.due_date, bare.start_date], [2, '', null, null]);
});

test('iids are gapless under concurrent creation and never reused', async () => {
  const { id } = await project();
  const replies = await Promise.all(Array.from({ length: 8 }, (_one, at) => create(id, `m${at}`)));
  const iids = replies.map((reply) => reply.body.iid as number).toSorted((a, b) => a - b);
  assert.deepEqual(iids, [1, 2, 3, 4, 5, 6, 7, 8]);
  const last = replies.find((reply) => reply.body.iid === 8)!.body;
  assert.equal((await gantry.api(`DELETE /projects/${id}/milestones/${last.id}`)).status, 204);
  assert.equal((await create(id, 'next')).body.iid, 9);
  const group = await seedGroup(gantry);
  const ofGroup = await Promise.all(
    Array.from({ length: 6 }, (_one, at) => create(group.id, `g${at}`, {}, 'groups')),
  );
  assert.deepEqual(
    ofGroup.map((reply) => reply.body.iid as number).toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal(ofGroup[0]!.body.group_id, group.id);
  assert.equal('project_id' in ofGroup[0]!.body, false);
});

test('refuses titles that are blank, too long or taken', async () => {
  const group = await seedGroup(gantry);
  const { id } = await project({ namespace: group.id });
  await create(group.id, 'shared', {}, 'groups');
  await create(id, 'own');
  const refusal = async (title: string, where = 'projects', of = id) => {
    const reply = await create(of, title, {}, where);
    return [reply.status, reply.body.message];
  };
  const taken = [400, { title: ['has already been taken'] }];
  assert.deepEqual(await refusal(' '), [400, { title: ["can't be blank"] }]);
  assert.deepEqual(await refusal('x'.repeat(256)), [
    400,
    { title: ['is too long (maximum is 255 characters)'] },
  ]);
  assert.deepEqual(await refusal('own'), taken);
  assert.deepEqual(await refusal('shared'), taken);
  assert.deepEqual(await refusal('own', 'groups', group.id), taken);
  const missing = await gantry.api(`POST /projects/${id}/milestones`, { json: {} });
  assert.equal(missing.body.message, '400 (Bad request) "title" not given');
  const elsewhere = await project();
  assert.equal((await create(elsewhere.id, 'own')).status, 201);
});

test('of two concurrent creations with one title, one succeeds', async () => {
  const { id } = await project();
  const replies = await Promise.all(Array.from({ length: 5 }, () => create(id, 'race')));
  assert.deepEqual(
    replies.map((reply) => reply.status).toSorted((a, b) => a - b),
    [201, 400, 400, 400, 400],
  );
  assert.equal((await create(id, 'after')).body.iid, 2, 'a refusal takes no iid');
});

test('requires the due date after the start date', async () => {
  const { id } = await project();
  const problem = { message: { due_date: ['must be greater than start date'] } };
  const wrong = await create(id, 'wrong', { start_date: '2017-10-02', due_date: '2017-10-01' });
  assert.deepEqual([wrong.status, wrong.body], [400, problem]);
  const made = (await create(id, 'right', { start_date: '2017-10-02' })).body;
  const path = `/projects/${id}/milestones/${made.id}`;
  const later = await gantry.api(`PUT ${path}`, { json: { due_date: '2017-10-01' } });
  assert.deepEqual([later.status, later.body], [400, problem]);
  const odd = await create(id, 'odd', { due_date: '2017-02-30' });
  assert.deepEqual(odd.body, { message: { due_date: ['is invalid'] } });
});

test('edits, closes and activates a milestone', async () => {
  const { id } = await project();
  const made = (await create(id, 'one', { description: 'x', due_date: '2017-10-01' })).body;
  const path = `/projects/${id}/milestones/${made.id}`;
  const was = await version(id);
  const edit = {
    title: 'two',
    description: '',
    due_date: '',
    start_date: '2018-01-01',
    state_event: 'close',
  };
  const { status, body } = await gantry.api(`PUT ${path}`, { json: edit });
  assert.equal(status, 200);
  assert.deepEqual(
    [body.title, body.description, body.due_date, body.start_date, body.state],
    ['two', '', null, '2018-01-01', 'closed'],
  );
  assert.equal(await version(id), was + 1);
  const again = await gantry.api(`PUT ${path}`, { json: { state_event: 'close' } });
  assert.deepEqual(again.body, body, 'closing a closed one changes nothing');
  assert.equal(await version(id), was + 1);
  assert.equal((await gantry.api(`PUT ${path}`, { json: { state_event: 'activate' } })).body.state, 'active');
  const odd = await gantry.api(`PUT ${path}`, { json: { state_event: 'reopen' } });
  assert.deepEqual(odd.body, { message: { state_event: ['does not have a valid value'] } });
  const nothing = await gantry.api(`PUT ${path}`, { json: {} });
  assert.match(nothing.body.message, /^400 \(Bad request\) at least one of title, /);
  assert.deepEqual((await gantry.api(`PUT ${path}`, { json: { title: '' } })).body.message, {
    title: ["can't be blank"],
  });
  await create(id, 'three');
  const taken = await gantry.api(`PUT ${path}`, { json: { title: 'three' } });
  assert.deepEqual(taken.body.message, { title: ['has already been taken'] });
});

test('lists milestones newest first and filters them', async () => {
  const { id } = await project();
  await create(id, 'alpha', { description: 'About 100% of it' });
  const closed = (await create(id, 'Beta')).body;
  await create(id, 'gamma');
  await gantry.api(`PUT /projects/${id}/milestones/${closed.id}`, { json: { state_event: 'close' } });
  const list = async (query = '') => await titles(`GET /projects/${id}/milestones${query}`);
  assert.deepEqual(await list(), ['gamma', 'Beta', 'alpha']);
  assert.deepEqual(await list('?state=all'), ['gamma', 'Beta', 'alpha']);
  assert.deepEqual(await list('?state=active'), ['gamma', 'alpha']);
  assert.deepEqual(await list('?state=closed'), ['Beta']);
  assert.deepEqual(await list('?iids[]=1&iids[]=3&iids[]=77'), ['gamma', 'alpha']);
  assert.deepEqual(await list('?title=Beta'), ['Beta']);
  assert.deepEqual(await list('?title=beta'), []);
  assert.deepEqual(await list('?search=BET'), ['Beta']);
  assert.deepEqual(await list(`?search=${encodeURIComponent('100%')}`), ['alpha']);
  assert.deepEqual(await list(`?search=${encodeURIComponent('%_%')}`), []);
  assert.equal((await gantry.api(`GET /projects/${id}/milestones?state=odd`)).status, 400);
});

test('a project lists the milestones of the groups above it on request', async () => {
  const top = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: top.id });
  const { id } = await project({ namespace: below.id });
  const ofGroup = (await create(top.id, 'top', {}, 'groups')).body;
  await create(id, 'own');
  assert.deepEqual(await titles(`GET /projects/${id}/milestones`), ['own']);
  assert.deepEqual(await titles(`GET /projects/${id}/milestones?include_ancestors=true`), ['own', 'top']);
  assert.deepEqual(await titles(`GET /projects/${id}/milestones?include_parent_milestones=1`), [
    'own',
    'top',
  ]);
  assert.deepEqual(await titles(`GET /groups/${top.id}/milestones`), ['top']);
  assert.equal((await gantry.api(`GET /groups/${top.id}/milestones/${ofGroup.id}`)).body.title, 'top');
  assert.equal((await gantry.api(`GET /projects/${id}/milestones/${ofGroup.id}`)).status, 404);
  const edit = await gantry.api(`PUT /projects/${id}/milestones/${ofGroup.id}`, {
    json: { title: 'stolen' },
  });
  assert.equal(edit.status, 404);
});

test('deleting a milestone only clears it from its issues', async () => {
  const { id } = await project();
  const milestone = (await create(id, 'gone')).body.id;
  const issue = await seedIssue(gantry, { project: id, milestone });
  const { db } = gantry.service.platform.store;
  const row = async () => ({
    ...(await db
      .selectFrom('issues')
      .select(['milestone_id', 'updated_at'])
      .where('id', '=', issue.id)
      .executeTakeFirstOrThrow()),
  });
  const { updated_at } = await row();
  const old = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  const path = `/projects/${id}/milestones/${milestone}`;
  assert.equal((await gantry.api(`DELETE ${path}`, { headers: old })).status, 412);
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 204);
  assert.deepEqual(await row(), { milestone_id: null, updated_at });
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 404);
});

test('does not find a milestone of another project', async () => {
  const [mine, theirs] = [await project(), await project({ visibility: 'private' })];
  const milestone = (await create(theirs.id, 'theirs')).body.id;
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const options = method === 'PUT' ? { json: { title: 'x' } } : {};
    const reply = await gantry.api(`${method} /projects/${mine.id}/milestones/${milestone}`, options);
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Not found' }]);
  }
});

test('refuses callers without the right, and hides milestones from others', async () => {
  const open = await project();
  const closed = await project({ visibility: 'private' });
  const milestone = (await create(open.id, 'kept')).body.id;
  const json = { title: 'x' };
  const one = `/projects/${open.id}/milestones/${milestone}`;
  for (const line of [`POST /projects/${open.id}/milestones`, `PUT ${one}`, `DELETE ${one}`]) {
    for (const as of [reporter.token, stranger.token]) {
      assert.equal((await gantry.api(line, { as, json })).status, 403, line);
    }
    assert.equal((await gantry.api(line, { as: null, json })).status, 401, line);
  }
  assert.equal((await gantry.api(`GET ${one}`, { as: stranger.token })).status, 200);
  const hidden = await gantry.api(`GET /projects/${closed.id}/milestones`, { as: stranger.token });
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Project Not Found' }]);
  const made = await gantry.api(`POST /projects/${closed.id}/milestones`, { as: developer.token, json });
  assert.equal(made.status, 201);
  assert.equal(
    (await gantry.api(`DELETE /projects/${closed.id}/milestones/${made.body.id}`, { as: developer.token }))
      .status,
    204,
  );
});

test('masters change milestones of a group', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: developer.id, group: group.id, access_level: 30 });
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
  const status = async (as: string) =>
    (await gantry.api(`POST /groups/${group.id}/milestones`, { as, json: { title: 'x' } })).status;
  assert.equal(await status(stranger.token), 404);
  assert.equal(await status(developer.token), 403);
  assert.equal(await status(master.token), 201);
  assert.equal(
    (await gantry.api(`GET /groups/${group.id}/milestones`, { as: developer.token })).body.length,
    1,
  );
});

test('editing a group milestone invalidates cached lists of all projects below', async () => {
  const top = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: top.id });
  const { id } = await project({ namespace: below.id });
  const milestone = (await create(top.id, 'wide', {}, 'groups')).body.id;
  const was = await version(id);
  await gantry.api(`PUT /groups/${top.id}/milestones/${milestone}`, { json: { title: 'wider' } });
  assert.equal(await version(id), was + 1);
  assert.equal((await gantry.api(`DELETE /groups/${top.id}/milestones/${milestone}`)).status, 204);
  assert.equal(await version(id), was + 2);
});

test('promotes a milestone to the group, in place of those of the same title below the group', async () => {
  const group = await seedGroup(gantry);
  const first = await project({ namespace: group.id });
  const second = await project({ namespace: group.id });
  await create(group.id, 'earlier', {}, 'groups');
  const milestone = (await create(first.id, 'v1')).body;
  const twin = (await create(second.id, 'v1')).body;
  const json = { title: 'One', milestone_id: twin.id };
  const issue = (await gantry.api(`POST /projects/${second.id}/issues`, { json })).body;

  const reply = await gantry.api(`POST /projects/${first.id}/milestones/${milestone.id}/promote`);
  assert.equal(reply.status, 201);
  assert.deepEqual(
    [reply.body.id, reply.body.iid, reply.body.group_id, reply.body.project_id],
    [milestone.id, 2, group.id, undefined],
  );
  const moved = (await gantry.api(`GET /projects/${second.id}/issues/${issue.iid}`)).body;
  assert.deepEqual([moved.milestone.id, moved.milestone.group_id], [milestone.id, group.id]);
  assert.equal((await gantry.api(`GET /projects/${second.id}/milestones/${twin.id}`)).status, 404);
});

test('refuses to promote a milestone without the right in the group, and one of a personal project', async () => {
  const group = await seedGroup(gantry, { visibility: 'public' });
  const inGroup = await project({ namespace: group.id });
  const personal = await project();
  const promote = async (id: number, as: { as?: string }) => {
    const { id: milestone } = (await create(id, unique('kept'))).body;
    return await gantry.api(`POST /projects/${id}/milestones/${milestone}/promote`, as);
  };
  assert.equal((await promote(inGroup.id, { as: developer.token })).status, 403);
  const refused = await promote(personal.id, {});
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'The project does not belong to a group' }],
  );
});
