import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type IssueSeed,
  type SeededIssue,
  type SeededProject,
  type SeededUser,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { addSystemNotes } from './add_system_notes.ts';

let gantry: TestService;
let master: SeededUser;
let guest: SeededUser;
let stranger: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  [master, guest, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
});
after(async () => await gantry.close());

const issue = async (fields: Partial<IssueSeed> = {}): Promise<SeededIssue> =>
  await seedIssue(gantry, { project: project.id, ...fields });

const toPath = ({ project_id, iid }: SeededIssue): string => `/projects/${project_id}/issues/${iid}/notes`;

const comment = async (
  on: SeededIssue,
  body: string,
  as = stranger.token,
  rest: object = {},
): Promise<Reply> => await gantry.api(`POST ${toPath(on)}`, { as, json: { body, ...rest } });

const db = () => gantry.service.platform.store.db;

const row = async ({ id }: SeededIssue) => ({
  ...(await db()
    .selectFrom('issues')
    .select(['user_notes_count', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()),
});

const todosOn = async ({ id }: SeededIssue) => {
  const rows = await db()
    .selectFrom('todos')
    .select(['user_id', 'action', 'state', 'body'])
    .where('target_id', '=', id)
    .orderBy('id')
    .execute();
  return rows.map((one) => [one.user_id, one.action, one.state, one.body]);
};

const mentionsOn = async ({ id }: SeededIssue): Promise<number[]> => {
  const rows = await db()
    .selectFrom('mentions')
    .select('user_id')
    .where('target_id', '=', id)
    .orderBy('user_id')
    .execute();
  return rows.map((one) => one.user_id);
};

const systemNote = async (on: SeededIssue, text: string): Promise<number> => {
  await gantry.service.platform.store.write(async (tx) => {
    await addSystemNotes(tx, 1, { type: 'Issue', id: on.id, project_id: on.project_id }, [text]);
  });
  const rows = await db()
    .selectFrom('notes')
    .select('id')
    .where('target_id', '=', on.id)
    .orderBy('id', 'desc')
    .execute();
  return rows[0]!.id;
};

test('lets everyone who sees an issue comment on it', async () => {
  const on = await issue();
  gantry.setTime(Date.UTC(2030, 0, 2));
  const made = await comment(on, 'Looks *good*');
  gantry.setTime(null);
  assert.equal(made.status, 201);
  const expected = {
    id: made.body.id,
    type: null,
    body: 'Looks *good*',
    attachment: null,
    author: made.body.author,
    created_at: '2030-01-02T00:00:00.000Z',
    updated_at: '2030-01-02T00:00:00.000Z',
    system: false,
    noteable_id: on.id,
    noteable_type: 'Issue',
    noteable_iid: on.iid,
    project_id: project.id,
    resolvable: false,
    confidential: false,
    internal: false,
  };
  assert.deepEqual(made.body, expected);
  assert.equal(made.body.author.username, stranger.username);
  assert.equal('email' in made.body.author, false);
  assert.deepEqual((await gantry.api(`GET ${toPath(on)}/${made.body.id}`)).body, expected);
  assert.deepEqual(await row(on), { user_notes_count: 1, updated_at: Date.UTC(2030, 0, 2) });
});

test('refuses a comment without a text', async () => {
  const on = await issue();
  const missing = await gantry.api(`POST ${toPath(on)}`, { json: {} });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "body" not given']);
  for (const body of ['', ' \n\t']) {
    const reply = await comment(on, body);
    assert.deepEqual([reply.status, reply.body], [400, { message: { note: ["can't be blank"] } }]);
  }
  assert.equal((await comment(on, 'x'.repeat(1_048_577))).status, 400);
  const was = await row(on);
  assert.equal(was.user_notes_count, 0);
});

test('lets owners set the time of a comment, and ignores it from others', async () => {
  const on = await issue();
  const rest = { created_at: '2016-03-11T03:45:40Z' };
  const byOwner = await gantry.api(`POST ${toPath(on)}`, { json: { body: 'old', ...rest } });
  assert.equal(byOwner.body.created_at, '2016-03-11T03:45:40.000Z');
  const byMaster = await comment(on, 'new', master.token, rest);
  assert.equal(byMaster.status, 201);
  assert.notEqual(byMaster.body.created_at, '2016-03-11T03:45:40.000Z');
  assert.equal((await comment(on, 'odd', master.token, { created_at: 'yesterday' })).status, 400);
});

test('lists notes newest first or in the requested order, with exact totals', async () => {
  const on = await issue();
  for (const [at, body] of ['a', 'b', 'c'].entries()) {
    gantry.setTime(Date.UTC(2030, 0, 1, at));
    await comment(on, body);
  }
  const [first] = (await gantry.api(`GET ${toPath(on)}?sort=asc`)).body;
  gantry.setTime(Date.UTC(2030, 0, 2));
  await gantry.api(`PUT ${toPath(on)}/${first.id}`, { json: { body: 'a, edited' } });
  gantry.setTime(null);
  await systemNote(on, 'closed');
  const list = async (query: string) => {
    const reply = await gantry.api(`GET ${toPath(on)}${query}`);
    return [reply.headers.get('x-total'), ...reply.body.map((note: { body: string }) => note.body)];
  };
  assert.deepEqual(await list('?activity_filter=only_comments'), ['3', 'c', 'b', 'a, edited']);
  assert.deepEqual(await list('?activity_filter=only_comments&sort=asc'), ['3', 'a, edited', 'b', 'c']);
  assert.deepEqual(await list('?activity_filter=only_comments&order_by=updated_at'), [
    '3',
    'a, edited',
    'c',
    'b',
  ]);
  assert.deepEqual(await list('?activity_filter=only_activity'), ['1', 'closed']);
  assert.deepEqual((await list('?per_page=1&page=2&sort=asc')).slice(0, 1), ['4']);
  assert.equal((await gantry.api(`GET ${toPath(on)}?order_by=body`)).status, 400);
});

test('answers the same 404 for notes of a hidden, deleted or missing issue', async () => {
  const secret = await issue({ confidential: 1 });
  await comment(secret, 'The word is xyzzy', master.token);
  const gone = await issue({ deleted: true });
  const missing = { ...gone, iid: 999_999 };
  const id = (
    await db().selectFrom('notes').select('id').where('target_id', '=', secret.id).executeTakeFirstOrThrow()
  ).id;
  const replies: string[] = [];
  for (const on of [secret, gone, missing]) {
    for (const [method, end] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', `/${id}`],
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const) {
      const json = method === 'GET' || method === 'DELETE' ? undefined : { body: 'x' };
      const reply = await gantry.api(`${method} ${toPath(on)}${end}`, { as: stranger.token, json });
      replies.push(`${reply.status} ${reply.text}`);
    }
  }
  assert.deepEqual([...new Set(replies)], ['404 {"message":"404 Not found"}']);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const within = await seedIssue(gantry, { project: hidden.id });
  const reply = await comment(within, 'x');
  assert.deepEqual([reply.status, reply.body.message], [404, '404 Project Not Found']);
  assert.equal((await gantry.api(`GET ${toPath(secret)}`, { as: null })).status, 401);
});

test('finds a note only under its own issue', async () => {
  const [one, two] = [await issue(), await issue()];
  const { body: note } = await comment(one, 'here');
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const options = method === 'PUT' ? { json: { body: 'stolen' } } : {};
    assert.equal((await gantry.api(`${method} ${toPath(two)}/${note.id}`, options)).status, 404, method);
  }
  assert.equal((await gantry.api(`GET ${toPath(one)}/${note.id}`)).body.body, 'here');
});

test('lets only the author and masters edit a comment', async () => {
  const on = await issue();
  const { body: note } = await comment(on, 'first');
  const edit = async (as: string, body: string) =>
    await gantry.api(`PUT ${toPath(on)}/${note.id}`, { as, json: { body } });
  assert.equal((await edit(guest.token, 'x')).status, 403);
  gantry.setTime(Date.UTC(2030, 0, 3));
  const own = await edit(stranger.token, 'second');
  assert.deepEqual(
    [own.status, own.body.body, own.body.updated_at],
    [200, 'second', '2030-01-03T00:00:00.000Z'],
  );
  assert.equal((await row(on)).updated_at, Date.UTC(2030, 0, 3));
  gantry.setTime(Date.UTC(2030, 0, 4));
  const same = await edit(stranger.token, 'second');
  assert.deepEqual([same.status, same.body.updated_at], [200, '2030-01-03T00:00:00.000Z']);
  assert.equal((await row(on)).updated_at, Date.UTC(2030, 0, 3));
  gantry.setTime(null);
  const byMaster = await edit(master.token, 'third');
  assert.deepEqual([byMaster.body.body, byMaster.body.author.id], ['third', stranger.id]);
  assert.deepEqual((await edit(stranger.token, ' ')).body, { message: { note: ["can't be blank"] } });
  assert.equal((await row(on)).user_notes_count, 1);
});

test('lets the author and masters delete a comment with its mentions, todos and awards', async () => {
  const on = await issue();
  const { body: note } = await comment(on, `Ask @${guest.username}`);
  const path = `${toPath(on)}/${note.id}`;
  assert.deepEqual(await mentionsOn(on), [guest.id]);
  assert.equal((await gantry.api(`DELETE ${path}`, { as: guest.token })).status, 403);
  const old = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  assert.equal((await gantry.api(`DELETE ${path}`, { headers: old })).status, 412);
  const gone = await gantry.api(`DELETE ${path}`, { as: stranger.token });
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.equal((await gantry.api(`GET ${path}`)).status, 404);
  assert.equal((await row(on)).user_notes_count, 0);
  assert.deepEqual(await mentionsOn(on), []);
  assert.deepEqual(await todosOn(on), []);
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 404);
});

test('lets one of several concurrent deletions of a comment succeed', async () => {
  const on = await issue();
  const { body: note } = await comment(on, 'x');
  await comment(on, 'y');
  const all = Array.from({ length: 5 }, () => gantry.api(`DELETE ${toPath(on)}/${note.id}`));
  const statuses = (await Promise.all(all)).map((reply) => reply.status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [204, 404, 404, 404, 404]);
  assert.equal((await row(on)).user_notes_count, 1);
});

test('counts all concurrent comments', async () => {
  const on = await issue();
  const replies = await Promise.all(Array.from({ length: 10 }, (_one, at) => comment(on, `no ${at}`)));
  assert.ok(replies.every((reply) => reply.status === 201));
  assert.equal((await row(on)).user_notes_count, 10);
});

test('keeps system notes unchanged, does not count them and shows them to everyone', async () => {
  const on = await issue();
  const id = await systemNote(on, 'changed the description');
  const note = await gantry.api(`GET ${toPath(on)}/${id}`, { as: stranger.token });
  assert.deepEqual([note.body.system, note.body.body], [true, 'changed the description']);
  assert.equal((await gantry.api(`PUT ${toPath(on)}/${id}`, { json: { body: 'x' } })).status, 403);
  assert.equal((await gantry.api(`DELETE ${toPath(on)}/${id}`)).status, 403);
  assert.equal((await row(on)).user_notes_count, 0);
});

test('adds one todo for each mentioned user, and none for the author of the comment', async () => {
  const on = await issue();
  const body = `@${guest.username} please, and @${stranger.username} and @${master.username}`;
  await comment(on, body);
  assert.deepEqual(
    await todosOn(on),
    [
      [guest.id, 'directly_addressed', 'pending', body],
      [master.id, 'mentioned', 'pending', body],
    ].toSorted((a, b) => Number(a[0]) - Number(b[0])),
  );
  await comment(on, `@${guest.username} again`);
  assert.equal((await todosOn(on)).length, 2);
});

test('adds no todo for a mentioned user who may not see the issue', async () => {
  const on = await issue({ confidential: 1 });
  await comment(on, `@${guest.username} @${master.username} secret`, master.token);
  assert.deepEqual(await todosOn(on), []);
  await gantry.api(`POST ${toPath(on)}`, { json: { body: `@${guest.username} @${master.username}` } });
  assert.deepEqual(
    (await todosOn(on)).map(([user]) => user),
    [master.id],
  );
});

test('marks the todo of the user who comments as done', async () => {
  const on = await issue();
  await comment(on, `@${guest.username} ?`);
  await comment(on, 'answer', guest.token);
  assert.deepEqual(
    (await todosOn(on)).map(([user, , state]) => [user, state]),
    [[guest.id, 'done']],
  );
});

test('replaces the mentions on an edit, and adds todos for newly mentioned users', async () => {
  const on = await issue();
  const { body: note } = await comment(on, `@${guest.username} hello`);
  const text = `@${master.username} hello`;
  await gantry.api(`PUT ${toPath(on)}/${note.id}`, { as: stranger.token, json: { body: text } });
  assert.deepEqual(await mentionsOn(on), [master.id]);
  assert.deepEqual(await todosOn(on), [
    [guest.id, 'directly_addressed', 'pending', text],
    [master.id, 'directly_addressed', 'pending', text],
  ]);
});

/** As if the one had become the other. */
const asMoved = async (from: { id: number }, to: { id: number }): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('issues').set({ moved_to_id: to.id }).where('id', '=', from.id).execute();
  });
};

test('hides the target of a move to a project that the reader cannot see', async () => {
  const secret = await seedProject(gantry, { visibility: 'private', path: unique('secret') });
  const target = await seedIssue(gantry, { project: secret.id });
  const on = await issue();
  const movedText = `moved to ${secret.full_path}#${target.iid}`;
  const id = await systemNote(on, movedText);
  await asMoved(on, target);
  const bodies = async (as?: string) => {
    const options = as === undefined ? {} : { as };
    const one = await gantry.api(`GET ${toPath(on)}/${id}`, options);
    const all = await gantry.api(`GET ${toPath(on)}`, options);
    return [one.body.body, all.body[0].body];
  };
  assert.deepEqual(await bodies(), [movedText, movedText]);
  assert.deepEqual(await bodies(stranger.token), ['moved to another project', 'moved to another project']);
  await seedMember(gantry, { user: stranger.id, project: secret.id, access_level: 10 });
  assert.deepEqual(await bodies(stranger.token), [movedText, movedText]);
});

test('hides the target of a move to an issue that is deleted or hidden from the reader', async () => {
  const open = await seedProject(gantry);
  const confidential = await seedIssue(gantry, { project: open.id, confidential: 1 });
  const gone = await seedIssue(gantry, { project: open.id, deleted: true });
  const seen = await seedIssue(gantry, { project: open.id });
  const on = await issue();
  for (const from of [confidential, gone, seen]) {
    await systemNote(on, `moved from ${open.full_path}#${from.iid}`);
    await asMoved(from, on);
  }
  await comment(on, `moved to ${open.full_path}#${confidential.iid}`);
  const reply = await gantry.api(`GET ${toPath(on)}?sort=asc`, { as: guest.token });
  assert.deepEqual(
    reply.body.map((note: { body: string }) => note.body),
    [
      'moved from another project',
      'moved from another project',
      `moved from ${open.full_path}#${seen.iid}`,
      `moved to ${open.full_path}#${confidential.iid}`,
    ],
    'what a person writes stays as it is',
  );
});
