import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { seedGroup, seedIssue, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { untilFound } from '../../../test/support/until.ts';
import { postgresDdl, sqliteDdl } from '../../platform/db/ddl_keywords.ts';
import { activities } from '../../platform/db/migrations/0059_activities.ts';
import { type TestService, engine, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const must = async (line: string, json?: object, as?: string) => {
  const { status, body } = await gantry.api(line, { ...(json && { json }), ...(as && { as }) });
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const list = async (path: string, as?: string | null) => {
  const reply = await gantry.api(`GET ${path}`, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, reply.text);
  const names = reply.body.map(
    ({ action_name, target_type }: { action_name: string; target_type: string | null }) =>
      `${action_name} ${target_type ?? ''}`.trim(),
  );
  return { names, items: reply.body, total: Number(reply.headers.get('x-total')) };
};

/** Pushes to a branch by the commits API and waits for the work behind the push. */
const commit = async (project: number, branch: string, message: string, as: string) => {
  const actions = [{ action: 'create', file_path: `${message}.txt`, content: message }];
  return await must(
    `POST /projects/${project}/repository/commits`,
    { branch, commit_message: message, actions },
    as,
  );
};

test('lists issues, comments and milestones with their titles, the latest first', async () => {
  const user = await seedUser(gantry);
  const { id } = await must('POST /projects', { name: 'events', visibility: 'public' }, user.token);
  const issue = await must(`POST /projects/${id}/issues`, { title: 'Broken' }, user.token);
  const note = await must(`POST /projects/${id}/issues/${issue.iid}/notes`, { body: 'why' }, user.token);
  await must(`PUT /projects/${id}/issues/${issue.iid}`, { state_event: 'close' }, user.token);
  await must(`PUT /projects/${id}/issues/${issue.iid}`, { state_event: 'reopen' }, user.token);
  await must(`PUT /projects/${id}/issues/${issue.iid}`, { title: 'Renamed' }, user.token);
  const milestone = await must(`POST /projects/${id}/milestones`, { title: 'v1' }, user.token);
  await must(`PUT /projects/${id}/milestones/${milestone.id}`, { state_event: 'close' }, user.token);
  const { names, items, total } = await list(`/projects/${id}/events`);
  assert.deepEqual(names, [
    'closed Milestone',
    'opened Milestone',
    'opened Issue',
    'closed Issue',
    'commented on Note',
    'opened Issue',
    'created',
    'joined',
  ]);
  assert.equal(total, 8);
  const { created_at, author, ...commented } = items[4];
  assert.match(created_at, /^\d{4}-.*Z$/);
  assert.equal(author.username, user.username);
  assert.equal(commented.note.body, 'why');
  assert.equal(commented.note.noteable_iid, issue.iid);
  assert.deepEqual(
    { ...commented, note: null },
    {
      id: commented.id,
      project_id: id,
      action_name: 'commented on',
      target_id: note.id,
      target_iid: note.id,
      target_type: 'Note',
      author_id: user.id,
      target_title: 'Renamed',
      note: null,
      imported: false,
      imported_from: 'none',
      author_username: user.username,
    },
  );
  assert.deepEqual([items[5].target_id, items[5].target_iid], [issue.id, issue.iid]);
  assert.deepEqual((await list(`/users/${user.id}/events`)).items, items);
  assert.deepEqual((await list(`/users/${user.username}/events`)).total, 8);
  assert.deepEqual((await list('/events', user.token)).items, items);
  await must(`DELETE /projects/${id}/milestones/${milestone.id}`, undefined, user.token);
  await must(`DELETE /projects/${id}/issues/${issue.iid}`, undefined, user.token);
  const left = await list(`/projects/${id}/events`);
  assert.deepEqual(left.names, ['destroyed Milestone', 'created', 'joined']);
  assert.equal(left.items[0].target_title, 'v1');
});

test('filters by action, target and day, sorts and pages', async () => {
  const user = await seedUser(gantry);
  const { id } = await seedProject(gantry, { owner: user.id });
  for (const [at, title] of ['one', 'two', 'three'].entries()) {
    gantry.setTime(Date.UTC(2031, 4, at + 1, 12));
    await must(`POST /projects/${id}/issues`, { title }, user.token);
  }
  await must(`PUT /projects/${id}/issues/1`, { state_event: 'close' }, user.token);
  gantry.setTime(null);
  const titles = async (query: string) => {
    const { items, total } = await list(`/projects/${id}/events?${query}`);
    return [items.map(({ target_title }: { target_title: string }) => target_title), total];
  };
  assert.deepEqual(await titles('action=closed'), [['one'], 1]);
  assert.deepEqual(await titles('action=created&sort=asc'), [['one', 'two', 'three'], 3]);
  assert.deepEqual(await titles('target_type=merge_request'), [[], 0]);
  assert.deepEqual(await titles('target_type=issue&per_page=1&page=2'), [['three'], 4]);
  assert.deepEqual(await titles('before=2031-05-02'), [['one'], 1]);
  assert.deepEqual(await titles('after=2031-05-01&before=2031-05-03'), [['two'], 1]);
  for (const query of ['action=leapt', 'target_type=moon', 'before=yesterday', 'sort=up', 'scope=none']) {
    const path = query.startsWith('scope') ? '/events' : `/projects/${id}/events`;
    assert.equal((await gantry.api(`GET ${path}?${query}`)).status, 400, query);
  }
});

test('shows pushes with their commits, to those who may read the code', async () => {
  const user = await seedUser(gantry);
  const guest = await seedUser(gantry);
  const { id } = await must('POST /projects', { name: 'pushed', visibility: 'private' }, user.token);
  await seedMember(gantry, { user: guest.id, project: id, access_level: 10 });
  const first = await commit(id, 'main', 'first', user.token);
  const second = await commit(id, 'main', 'second', user.token);
  await must(`POST /projects/${id}/repository/tags?tag_name=v1&ref=main`, undefined, user.token);
  await must(`POST /projects/${id}/repository/branches?branch=topic&ref=main`, undefined, user.token);
  await must(`DELETE /projects/${id}/repository/branches/topic`, undefined, user.token);
  const { names, items } = await untilFound('the events are listed', async () => {
    const listed = await list(`/projects/${id}/events?action=pushed`, user.token);
    return listed.items[3].push_data.commit_count === 0 || listed.items[2].push_data.commit_count === 0
      ? null
      : listed;
  });
  assert.deepEqual(names, ['deleted', 'pushed new', 'pushed new', 'pushed to', 'pushed new']);
  const push = { ref_type: 'branch', ref: 'main', ref_count: null, commit_count: 1 };
  assert.deepEqual(items[3].push_data, {
    ...push,
    action: 'pushed',
    commit_from: first.id,
    commit_to: second.id,
    commit_title: 'second',
  });
  assert.deepEqual(items[2].push_data, {
    ...push,
    action: 'created',
    ref_type: 'tag',
    ref: 'v1',
    commit_from: null,
    commit_to: second.id,
    commit_title: 'second',
  });
  assert.deepEqual([items[0].push_data.action, items[0].push_data.commit_to], ['removed', null]);
  assert.deepEqual((await list(`/projects/${id}/events`, guest.token)).names, ['created', 'joined']);
  assert.equal((await list(`/users/${user.id}/events`, guest.token)).total, 2);
});

test('hides activity on what the caller does not see', async () => {
  const [author, guest, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry, { owner: author.id });
  const open = await seedProject(gantry, { namespace: group.id });
  const hidden = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: guest.id, project: open.id, access_level: 10 });
  await must(`POST /projects/${open.id}/issues`, { title: 'open' }, author.token);
  const secret = { title: 'secret', confidential: true };
  const { iid } = await must(`POST /projects/${open.id}/issues`, secret, author.token);
  await must(`POST /projects/${open.id}/issues/${iid}/notes`, { body: 'x' }, author.token);
  await must(`POST /projects/${hidden.id}/issues`, { title: 'hidden' }, author.token);
  await must(`POST /projects/${open.id}/milestones`, { title: 'm' }, author.token);
  const ofProject = async (as: string | null) => (await list(`/projects/${open.id}/events`, as)).names;
  assert.deepEqual(await ofProject(author.token), [
    'opened Milestone',
    'commented on Note',
    'opened Issue',
    'opened Issue',
  ]);
  assert.deepEqual(await ofProject(guest.token), ['opened Milestone', 'opened Issue']);
  assert.deepEqual(await ofProject(null), ['opened Issue']);
  assert.equal((await list(`/users/${author.id}/events`, stranger.token)).total, 2);
  assert.equal((await list(`/users/${author.id}/events`, author.token)).total, 5);
  await must(`PUT /projects/${open.id}`, { issues_access_level: 'disabled' });
  assert.deepEqual(await ofProject(guest.token), ['opened Milestone']);
  assert.equal((await gantry.api(`GET /projects/${hidden.id}/events`, { as: stranger.token })).status, 404);
  assert.equal((await gantry.api(`GET /projects/${hidden.id}/events`, { as: null })).status, 404);
  assert.equal((await gantry.api('GET /events', { as: null })).status, 401);
  assert.equal((await gantry.api('GET /users/99999999/events')).status, 404);
});

test('scope=all lists what everybody did in the projects of the caller', async () => {
  const [user, other] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry, { owner: user.id });
  const own = await seedProject(gantry, { namespace: group.id });
  const foreign = await seedProject(gantry);
  for (const { id } of [own, foreign]) {
    await must(`POST /projects/${id}/issues`, { title: 'x' }, other.token);
  }
  assert.equal((await list('/events', user.token)).total, 0);
  const all = await list('/events?scope=all', user.token);
  assert.deepEqual([all.total, all.items[0].project_id, all.items[0].author_id], [1, own.id, other.id]);
});

test('follows roles, and forgets deleted users and projects', async () => {
  const [owner, member] = [await seedUser(gantry), await seedUser(gantry)];
  const { id } = await seedProject(gantry, { owner: owner.id });
  await must(`POST /projects/${id}/members`, { user_id: member.id, access_level: 20 }, owner.token);
  await must(`DELETE /projects/${id}/members/${member.id}`, undefined, owner.token);
  const { names, items } = await list(`/projects/${id}/events`);
  assert.deepEqual(names, ['left', 'joined']);
  assert.equal(items[0].author_id, member.id);
  await seedIssue(gantry, { project: id });
  await must(`DELETE /users/${member.id}`);
  assert.equal((await list(`/projects/${id}/events`)).total, 0);
});

test('fills in the activity of earlier versions from the change log', async () => {
  const user = await seedUser(gantry);
  const { id } = await must('POST /projects', { name: 'earlier', visibility: 'public' }, user.token);
  const { iid } = await must(`POST /projects/${id}/issues`, { title: 'x' }, user.token);
  await must(`POST /projects/${id}/issues/${iid}/notes`, { body: 'y' }, user.token);
  await must(`PUT /projects/${id}/issues/${iid}`, { state_event: 'close' }, user.token);
  const { id: sha } = await commit(id, 'main', 'one', user.token);
  await must(`POST /projects/${id}/repository/commits/${sha}/comments`, { note: 'z' }, user.token);
  await must(`POST /projects/${id}/milestones`, { title: 'v1' }, user.token);
  const shown = async () => {
    const { items } = await list(`/projects/${id}/events`);
    return items
      .map(({ id: _id, push_data: _push, ...item }: { id: number; push_data?: object }) => item)
      .toSorted((a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  };
  const before = await shown();
  assert.equal(before.length, 8);
  const ddl = engine === 'sqlite' ? sqliteDdl : postgresDdl;
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.deleteFrom('activities').execute();
    for (const text of activities.statements(ddl).filter((one) => one.startsWith('insert'))) {
      await sql.raw(text).execute(db);
    }
  });
  assert.deepEqual(await shown(), before);
});
