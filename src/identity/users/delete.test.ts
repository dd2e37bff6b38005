import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import type { Tx } from '../../platform/db/open.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const store = () => gantry.service.platform.store;
const remove = async (id: number, query = '') => await gantry.api(`DELETE /users/${id}${query}`);
const write = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => await store().write(work);

const ghost = async (): Promise<number | undefined> =>
  (await store().db.selectFrom('users').select('id').where('ghost', '=', 1).executeTakeFirst())?.id;

const issueRow = async (id: number) =>
  await store().db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();

const counters = async (project: number) =>
  await store()
    .db.selectFrom('project_counters')
    .selectAll()
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow();

const on = (issue: { id: number }) => ({ target_type: 'Issue' as const, target_id: issue.id });
const times = (tx: Tx) => ({ created_at: tx.now, updated_at: tx.now });

const note = async (
  issue: { id: number; project_id: number },
  author_id: number,
  system: 0 | 1 = 0,
): Promise<number> =>
  await write(async (tx) => {
    const row = { ...on(issue), project_id: issue.project_id, author_id, body: 'x', system, ...times(tx) };
    const { id } = await tx.db.insertInto('notes').values(row).returning('id').executeTakeFirstOrThrow();
    await tx.db
      .updateTable('issues')
      .set((is) => ({ user_notes_count: is('user_notes_count', '+', 1 - system) }))
      .where('id', '=', issue.id)
      .execute();
    return id;
  });

const award = async (issue: { id: number }, user_id: number, name = 'thumbsup'): Promise<void> =>
  await write(async (tx) => {
    await tx.db
      .insertInto('award_emoji')
      .values({ name, user_id, ...on(issue), ...times(tx) })
      .execute();
    if (name !== 'thumbsup') return;
    const update = tx.db.updateTable('issues').set((is) => ({ upvotes: is('upvotes', '+', 1) }));
    await update.where('id', '=', issue.id).execute();
  });

const awardNote = async (noteId: number, user_id: number): Promise<void> =>
  await write(async (tx) => {
    const target = { target_type: 'Note' as const, target_id: noteId };
    await tx.db
      .insertInto('award_emoji')
      .values({ name: 'tada', user_id, ...target, ...times(tx) })
      .execute();
  });

const spend = async (issue: { id: number }, user_id: number, time_spent: number): Promise<void> =>
  await write(async (tx) => {
    await tx.db
      .insertInto('timelogs')
      .values({ ...on(issue), user_id, time_spent, created_at: tx.now })
      .execute();
    const update = tx.db
      .updateTable('issues')
      .set((is) => ({ total_time_spent: is('total_time_spent', '+', time_spent) }));
    await update.where('id', '=', issue.id).execute();
  });

const todo = async (
  issue: { id: number; project_id: number },
  user_id: number,
  author_id: number,
): Promise<void> =>
  await write(async (tx) => {
    const row = {
      ...on(issue),
      user_id,
      author_id,
      project_id: issue.project_id,
      action: 'marked' as const,
      body: 'x',
    };
    await tx.db
      .insertInto('todos')
      .values({ ...row, state: 'pending', ...times(tx) })
      .execute();
  });

const mention = async (issue: { id: number }, user_id: number, note_id: number): Promise<void> =>
  await write(async (tx) => {
    await tx.db
      .insertInto('mentions')
      .values({ ...on(issue), user_id, note_id })
      .execute();
  });

test('deleting a user without contributions creates no ghost', async () => {
  const { id, token } = await seedUser(gantry);
  assert.equal((await remove(id)).status, 204);
  assert.equal(await ghost(), undefined);
  assert.equal((await gantry.api(`GET /users/${id}`)).status, 404);
  assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
  assert.equal((await remove(id)).status, 404);
});

test('reassigns contributions of a deleted user to the ghost', async () => {
  const { id, username } = await seedUser(gantry);
  const other = await seedUser(gantry);
  const project = await seedProject(gantry);
  const own = await seedIssue(gantry, { project: project.id, author: id });
  const others = await seedIssue(gantry, { project: project.id, author: other.id, assignees: [id] });
  const version = (await counters(project.id)).issues_version;
  await note(others, id);
  await spend(others, id, 60);
  await todo(others, other.id, id);
  await award(others, id);

  assert.equal((await remove(id)).status, 204);

  const heir = await ghost();
  assert.ok(heir !== undefined && heir !== id);
  assert.equal((await issueRow(own.id))?.author_id, heir);
  const { db } = store();
  for (const [table, column] of [
    ['notes', 'author_id'],
    ['timelogs', 'user_id'],
    ['todos', 'author_id'],
    ['award_emoji', 'user_id'],
  ] as const) {
    const row = (await db
      .selectFrom(table)
      .selectAll()
      .where('target_id', '=', others.id)
      .executeTakeFirstOrThrow()) as Record<string, unknown>;
    assert.equal(row[column], heir, table);
  }
  const remaining = await issueRow(others.id);
  assert.deepEqual(
    [remaining?.user_notes_count, remaining?.total_time_spent, remaining?.upvotes],
    [1, 60, 1],
  );
  assert.equal((await counters(project.id)).opened_issues, 2);
  assert.ok((await counters(project.id)).issues_version > version);
  assert.deepEqual((await gantry.api(`GET /users?username=${username}`)).body, []);
});

test('keeps one ghost that lists omit and nobody can change', async () => {
  const project = await seedProject(gantry);
  for (const _ of [1, 2]) {
    const { id } = await seedUser(gantry);
    await seedIssue(gantry, { project: project.id, author: id });
    assert.equal((await remove(id)).status, 204);
  }
  const [shown, ...more] = (await gantry.api('GET /users?username=Ghost')).body;
  assert.deepEqual(more, []);
  assert.deepEqual(
    [shown.name, shown.username, shown.state, shown.id],
    ['Ghost User', 'ghost', 'active', await ghost()],
  );
  assert.deepEqual((await gantry.api('GET /users?search=Ghost')).body, []);
  assert.equal(
    (await gantry.api(`PUT /users/${shown.id}`, { json: { password: 'correct horse' } })).status,
    403,
  );
  assert.equal((await gantry.api(`POST /users/${shown.id}/block`)).status, 403);
  const json = { name: 'x', scopes: ['api'] };
  assert.equal((await gantry.api(`POST /users/${shown.id}/personal_access_tokens`, { json })).status, 403);
  assert.equal((await remove(shown.id)).status, 403);
});

test('does not count an award twice that the ghost has given already', async () => {
  const project = await seedProject(gantry);
  const issue = await seedIssue(gantry, { project: project.id });
  const [one, two] = [await seedUser(gantry), await seedUser(gantry)];
  for (const { id } of [one, two]) {
    await award(issue, id);
    await award(issue, id, 'tada');
  }
  assert.equal((await issueRow(issue.id))?.upvotes, 2);
  assert.equal((await remove(one.id)).status, 204);
  assert.equal((await issueRow(issue.id))?.upvotes, 2);
  assert.equal((await remove(two.id)).status, 204);
  assert.equal((await issueRow(issue.id))?.upvotes, 1);
});

test('a hard deletion erases all contributions and keeps counters right', async () => {
  const { id } = await seedUser(gantry);
  const other = await seedUser(gantry);
  const project = await seedProject(gantry);
  const own = await seedIssue(gantry, {
    project: project.id,
    author: id,
    confidential: 1,
    assignees: [other.id],
  });
  const closed = await seedIssue(gantry, { project: project.id, author: id, state: 'closed' });
  const others = await seedIssue(gantry, { project: project.id, author: other.id });
  const foreign = await note(own, other.id);
  await awardNote(foreign, other.id);
  await todo(own, other.id, other.id);
  await mention(own, other.id, foreign);
  const mine = await note(others, id);
  await awardNote(mine, other.id);
  await mention(others, other.id, mine);
  await mention(others, other.id, 0);
  await note(others, id, 1);
  await note(others, other.id);
  await spend(others, id, 60);
  await spend(others, other.id, 30);
  await award(others, id);
  await award(others, other.id);
  const ghostBefore = await ghost();

  assert.equal((await remove(id, '?hard_delete=true')).status, 204);

  assert.equal(await ghost(), ghostBefore);
  assert.equal(await issueRow(own.id), undefined);
  assert.equal(await issueRow(closed.id), undefined);
  const remaining = await issueRow(others.id);
  assert.deepEqual(
    [remaining?.user_notes_count, remaining?.total_time_spent, remaining?.upvotes],
    [1, 30, 1],
  );
  const { opened_issues, closed_issues, opened_confidential_issues } = await counters(project.id);
  assert.deepEqual([opened_issues, closed_issues, opened_confidential_issues], [1, 0, 0]);
  const { db } = store();
  for (const table of ['assignees', 'notes', 'todos', 'mentions', 'award_emoji'] as const) {
    const rows = await db
      .selectFrom(table)
      .selectAll()
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', own.id)
      .execute();
    assert.deepEqual(rows, [], table);
  }
  const awarded = db.selectFrom('award_emoji').selectAll().where('target_type', '=', 'Note');
  assert.deepEqual(await awarded.where('target_id', 'in', [foreign, mine]).execute(), []);
  const mentions = await db
    .selectFrom('mentions')
    .select('note_id')
    .where('target_id', '=', others.id)
    .execute();
  assert.deepEqual(
    mentions.map(({ note_id }) => note_id),
    [0],
  );
});

test('a deletion removes projects and frees the name and paths', async () => {
  const { id, username } = await seedUser(gantry);
  const project = await seedProject(gantry, { owner: id });
  const outside = await seedProject(gantry);
  await seedIssue(gantry, { project: project.id });
  const inside = await seedIssue(gantry, { project: project.id, author: id });
  await seedIssue(gantry, { project: outside.id, author: id });
  assert.equal((await remove(id)).status, 204);
  const { db } = store();
  const kept = await db
    .selectFrom('projects')
    .select('deleted_at')
    .where('id', '=', project.id)
    .executeTakeFirst();
  assert.ok(kept === undefined || kept.deleted_at !== null);
  assert.equal((await gantry.api(`GET /projects/${project.id}/issues/${inside.iid}`)).status, 404);
  const routes = await db
    .selectFrom('routes')
    .selectAll()
    .where('path', 'like', `${username.toLowerCase()}%`)
    .execute();
  assert.deepEqual(routes, []);
  const again = await seedUser(gantry, { username });
  await seedProject(gantry, { owner: again.id, path: project.path });
});

test('refuses to delete the only owner of a group', async () => {
  const { id } = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: id });
  const { status, body } = await remove(id);
  assert.equal(status, 409);
  assert.deepEqual(body, { message: 'User cannot be removed while is the sole-owner of a group' });
  assert.equal((await gantry.api(`GET /users/${id}`)).status, 200);
  const other = await seedUser(gantry);
  await seedMember(gantry, { user: other.id, group: group.id, access_level: 40 });
  assert.equal((await remove(id)).status, 409);
  const third = await seedUser(gantry);
  await seedMember(gantry, { user: third.id, group: group.id, access_level: 50 });
  assert.equal((await remove(id)).status, 204);
});

test('allows it if others own the group through its parent', async () => {
  const [{ id }, other] = [await seedUser(gantry), await seedUser(gantry)];
  const top = await seedGroup(gantry, { owner: other.id });
  await seedGroup(gantry, { owner: id, parent: top.id });
  assert.equal((await remove(id)).status, 204);
});

test('a hard deletion removes the groups that only the user owns', async () => {
  const { id } = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: id });
  const project = await seedProject(gantry, { namespace: group.id });
  assert.equal((await remove(id, '?hard_delete=true')).status, 204);
  assert.equal((await gantry.api(`GET /groups/${group.id}`)).status, 404);
  assert.equal((await gantry.api(`GET /projects/${project.id}/issues`)).status, 404);
});

test('does not delete a user who changed since the read', async () => {
  const { id } = await seedUser(gantry);
  const headers = { 'if-unmodified-since': 'Sun, 01 Jan 2017 00:00:00 GMT' };
  assert.equal((await gantry.api(`DELETE /users/${id}`, { headers })).status, 412);
  const now = { 'if-unmodified-since': new Date().toUTCString() };
  assert.equal((await gantry.api(`DELETE /users/${id}`, { headers: now })).status, 204);
});

test('concurrent deletions share the ghost', async () => {
  const project = await seedProject(gantry);
  const users = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  for (const { id } of users) await seedIssue(gantry, { project: project.id, author: id });
  const replies = await Promise.all(users.map(async ({ id }) => await remove(id)));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [204, 204, 204],
  );
  const ghosts = await store().db.selectFrom('users').select('id').where('ghost', '=', 1).execute();
  assert.equal(ghosts.length, 1);
});

test('the ghost gets another name if the usual one is taken', async () => {
  const second = await startTestService();
  try {
    await seedGroup(second, { path: 'Ghost' });
    const json = { username: 'ghost1', name: 'x', email: 'ghost2@ghost.invalid', password: 'correct horse' };
    assert.equal((await second.api('POST /users', { json })).status, 201);
    const { id } = await seedUser(second);
    await seedIssue(second, { project: (await seedProject(second)).id, author: id });
    assert.equal((await second.api(`DELETE /users/${id}`)).status, 204);
    assert.equal((await second.api('GET /users?username=ghost3')).body[0].name, 'Ghost User');
  } finally {
    await second.close();
  }
});

test('the change log records the deleted user', async () => {
  const username = unique('gone');
  const { id } = await seedUser(gantry, { username });
  await remove(id);
  const query = store()
    .db.selectFrom('events')
    .select(['data', 'actor_id'])
    .where('kind', '=', 'user.deleted');
  const event = await query.where('target_id', '=', id).executeTakeFirstOrThrow();
  assert.equal(event.actor_id, 1);
  assert.deepEqual(JSON.parse(event.data), { username, hard_delete: false });
});

const onRequest = ({ id }: { id: number }) => ({ target_type: 'MergeRequest' as const, target_id: id });

/** Adds a comment, a vote and time to another user's merge request. */
const takePart = async (request: { id: number; project_id: number }, user_id: number): Promise<void> =>
  await write(async (tx) => {
    const note = { ...onRequest(request), project_id: request.project_id, author_id: user_id, body: 'x' };
    await tx.db
      .insertInto('notes')
      .values({ ...note, system: 0, ...times(tx) })
      .execute();
    await tx.db
      .insertInto('award_emoji')
      .values({ name: 'thumbsup', user_id, ...onRequest(request), ...times(tx) })
      .execute();
    await tx.db
      .insertInto('timelogs')
      .values({ ...onRequest(request), user_id, time_spent: 60, created_at: tx.now })
      .execute();
    await tx.db
      .updateTable('merge_requests')
      .set({ user_notes_count: 1, upvotes: 1, total_time_spent: 60 })
      .where('id', '=', request.id)
      .execute();
  });

const requestRow = async (id: number) =>
  await store().db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst();

test('reassigns merge requests, merges and votes to the ghost', async () => {
  const { id } = await seedUser(gantry);
  const project = await seedProject(gantry);
  const own = await seedMergeRequest(gantry, { project: project.id, author: id, state: 'merged' });
  const other = await seedMergeRequest(gantry, { project: project.id });
  await takePart(other, id);
  assert.equal((await remove(id)).status, 204);
  const by = await ghost();
  const { author_id, merged_by_id } = (await requestRow(own.id))!;
  assert.deepEqual([author_id, merged_by_id], [by, by]);
  const { upvotes, user_notes_count, total_time_spent } = (await requestRow(other.id))!;
  assert.deepEqual([upvotes, user_notes_count, total_time_spent], [1, 1, 60]);
});

test('deletes a vote that the ghost has given already and recounts', async () => {
  const project = await seedProject(gantry);
  const request = await seedMergeRequest(gantry, { project: project.id });
  const first = await seedUser(gantry);
  const second = await seedUser(gantry);
  await takePart(request, first.id);
  await remove(first.id);
  await takePart(request, second.id);
  await remove(second.id);
  const { upvotes, user_notes_count, total_time_spent } = (await requestRow(request.id))!;
  assert.deepEqual([upvotes, user_notes_count, total_time_spent], [1, 2, 120]);
});

test('a hard deletion erases merge requests and recounts', async () => {
  const { id } = await seedUser(gantry);
  const project = await seedProject(gantry);
  const own = await seedMergeRequest(gantry, { project: project.id, author: id, assignees: [1] });
  const kept = await seedMergeRequest(gantry, { project: project.id, state: 'closed' });
  await takePart(kept, id);
  assert.equal((await remove(id, '?hard_delete=true')).status, 204);
  assert.equal(await requestRow(own.id), undefined);
  const remaining = await store()
    .db.selectFrom('assignees')
    .select('user_id')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', own.id)
    .execute();
  assert.deepEqual(remaining, []);
  const { upvotes, user_notes_count, total_time_spent } = (await requestRow(kept.id))!;
  assert.deepEqual([upvotes, user_notes_count, total_time_spent], [0, 0, 0]);
  const { opened_merge_requests, closed_merge_requests } = await counters(project.id);
  assert.deepEqual([opened_merge_requests, closed_merge_requests], [0, 1]);
});
