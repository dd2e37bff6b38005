import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type IssueSeed,
  type SeededIssue,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type NewTodo, addTodos } from './add_todos.ts';

let gantry: TestService;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService();
  stranger = await seedUser(gantry);
});
after(async () => await gantry.close());

const todo = async (
  user: SeededUser,
  on: SeededIssue,
  fields: Partial<NewTodo> = {},
  author = 1,
): Promise<number> =>
  await gantry.service.platform.store.write(async (tx) => {
    const row = await tx.db
      .selectFrom('issues')
      .selectAll()
      .where('id', '=', on.id)
      .executeTakeFirstOrThrow();
    const target = { ...row, type: 'Issue' as const, assignee_ids: [], discussion_locked: false };
    const [id] = await addTodos(tx, author, target, [
      { user_id: user.id, action: 'mentioned', body: 'x', ...fields },
    ]);
    return id!;
  });

const issueIn = async (project: number, fields: Partial<IssueSeed> = {}): Promise<SeededIssue> =>
  await seedIssue(gantry, { project, ...fields });

const list = async (user: SeededUser, query = '') => {
  const reply = await gantry.api(`GET /todos${query}`, { as: user.token });
  assert.equal(reply.status, 200);
  return {
    total: Number(reply.headers.get('x-total')),
    ids: reply.body.map((one: { id: number }) => one.id),
    body: reply.body,
  };
};

test('a todo has the fields of the contract', async () => {
  const user = await seedUser(gantry);
  const author = await seedUser(gantry);
  const top = await seedGroup(gantry);
  const below = await seedGroup(gantry, { parent: top.id });
  const project = await seedProject(gantry, { namespace: below.id });
  const on = await issueIn(project.id, { title: 'To do' });
  gantry.setTime(Date.UTC(2030, 0, 1));
  const id = await todo(user, on, { action: 'directly_addressed', body: '@you' }, author.id);
  gantry.setTime(null);
  const { body } = await list(user);
  const { author: shownAuthor, target, target_url, ...rest } = body[0];
  assert.deepEqual(rest, {
    id,
    project: {
      id: project.id,
      name: project.path,
      name_with_namespace: `${top.path} / ${below.path} / ${project.path}`,
      path: project.path,
      path_with_namespace: project.full_path,
    },
    action_name: 'directly_addressed',
    target_type: 'Issue',
    body: '@you',
    state: 'pending',
    created_at: '2030-01-01T00:00:00.000Z',
  });
  assert.equal(shownAuthor.username, author.username);
  assert.deepEqual([target.id, target.iid, target.title], [on.id, on.iid, 'To do']);
  assert.equal('time_stats' in target || '_links' in target, false);
  assert.equal(target_url, `${gantry.url}/${project.full_path}/issues/${on.iid}`);
});

test('a todo of a comment leads to the comment', async () => {
  const user = await seedUser(gantry);
  const project = await seedProject(gantry);
  const on = await issueIn(project.id);
  const { body: note } = await gantry.api(`POST /projects/${project.id}/issues/${on.iid}/notes`, {
    json: { body: `Hello @${user.username}` },
  });
  const { body } = await list(user);
  assert.equal(body[0].body, `Hello @${user.username}`);
  assert.ok(body[0].target_url.endsWith(`/issues/${on.iid}#note_${note.id}`));
});

test('todos are listed newest first, a page at a time, and filtered', async () => {
  const user = await seedUser(gantry);
  const author = await seedUser(gantry);
  const group = await seedGroup(gantry);
  const inner = await seedProject(gantry, { namespace: (await seedGroup(gantry, { parent: group.id })).id });
  const outer = await seedProject(gantry);
  const a = await todo(user, await issueIn(inner.id), { action: 'marked' });
  const b = await todo(user, await issueIn(outer.id), {}, author.id);
  const c = await todo(user, await issueIn(outer.id), { action: 'assigned' });
  const ids = async (query = '') => (await list(user, query)).ids;
  assert.deepEqual(await ids(), [c, b, a]);
  assert.deepEqual(await list(user, '?per_page=2').then(({ total, ids: some }) => [total, some]), [
    3,
    [c, b],
  ]);
  assert.deepEqual(await ids('?per_page=2&page=2'), [a]);
  assert.deepEqual(await ids('?action=marked'), [a]);
  assert.deepEqual(await ids('?action=approval_required'), []);
  assert.deepEqual(await ids(`?author_id=${author.id}`), [b]);
  assert.deepEqual(await ids(`?project_id=${outer.id}`), [c, b]);
  assert.deepEqual(await ids(`?group_id=${group.id}`), [a]);
  assert.deepEqual(await ids('?type=Issue'), [c, b, a]);
  assert.deepEqual(await ids('?type=MergeRequest'), []);
  assert.deepEqual(await ids('?state=done'), []);
  for (const query of ['?state=odd', '?action=odd', '?type=odd', '?author_id=x']) {
    assert.equal((await gantry.api(`GET /todos${query}`, { as: user.token })).status, 400, query);
  }
});

test('lists only the todos of the caller', async () => {
  const user = await seedUser(gantry);
  const project = await seedProject(gantry);
  const id = await todo(user, await issueIn(project.id));
  assert.deepEqual((await list(stranger)).ids, []);
  for (const as of [stranger.token, undefined]) {
    const reply = await gantry.api(`POST /todos/${id}/mark_as_done`, as === undefined ? {} : { as });
    assert.deepEqual(
      [reply.status, reply.body],
      [404, { message: '404 Not found' }],
      'an administrator sees their own, too',
    );
  }
  assert.equal((await list(user)).body[0].state, 'pending');
  for (const line of ['GET /todos', `POST /todos/${id}/mark_as_done`, 'POST /todos/mark_as_done']) {
    assert.equal((await gantry.api(line, { as: null })).status, 401);
  }
});

test('a todo is marked as done, and again', async () => {
  const user = await seedUser(gantry);
  const project = await seedProject(gantry);
  const [one, two] = [
    await todo(user, await issueIn(project.id)),
    await todo(user, await issueIn(project.id)),
  ];
  for (let times = 0; times < 2; times += 1) {
    const reply = await gantry.api(`POST /todos/${one}/mark_as_done`, { as: user.token });
    assert.deepEqual([reply.status, reply.body.id, reply.body.state], [201, one, 'done']);
  }
  assert.deepEqual((await list(user)).ids, [two]);
  assert.deepEqual((await list(user, '?state=done')).ids, [one]);
});

test('marks all own todos as done, and no todos of other users', async () => {
  const user = await seedUser(gantry);
  const other = await seedUser(gantry);
  const project = await seedProject(gantry);
  const on = await issueIn(project.id);
  await todo(user, on);
  await todo(user, await issueIn(project.id));
  const kept = await todo(other, on);
  for (let times = 0; times < 2; times += 1) {
    const reply = await gantry.api('POST /todos/mark_as_done', { as: user.token });
    assert.deepEqual([reply.status, reply.text], [204, '']);
  }
  assert.equal((await list(user)).total, 0);
  assert.equal((await list(user, '?state=done')).total, 2);
  assert.deepEqual((await list(other)).ids, [kept]);
});

test('hides todos on targets that the user no longer sees, also in the total', async () => {
  const user = await seedUser(gantry);
  const open = await seedProject(gantry);
  const closed = await seedProject(gantry, { visibility: 'private' });
  const members = await seedProject(gantry, { issues_access_level: 'private' });
  const seen = await todo(user, await issueIn(open.id));
  const own = await todo(user, await issueIn(open.id, { confidential: 1, author: user.id }));
  const hidden = [
    await todo(user, await issueIn(open.id, { confidential: 1 })),
    await todo(user, await issueIn(open.id, { deleted: true })),
    await todo(user, await issueIn(closed.id, { author: user.id })),
    await todo(user, await issueIn(members.id)),
  ];
  const { total, ids } = await list(user);
  assert.deepEqual([total, ids], [2, [own, seen]]);
  for (const id of hidden) {
    assert.equal((await gantry.api(`POST /todos/${id}/mark_as_done`, { as: user.token })).status, 404);
  }
  await seedMember(gantry, { user: user.id, project: closed.id, access_level: 10 });
  assert.equal((await list(user)).total, 3);
});
