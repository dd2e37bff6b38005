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
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { addSystemNotes } from '../notes/add_system_notes.ts';

let gantry: TestService;
let master: SeededUser;
let fan: SeededUser;
let stranger: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  [master, fan, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const issue = async (fields: Partial<IssueSeed> = {}): Promise<SeededIssue> =>
  await seedIssue(gantry, { project: project.id, ...fields });

const issuePath = ({ project_id, iid }: SeededIssue): string => `/projects/${project_id}/issues/${iid}`;

const award = async (path: string, name: string, as = fan.token): Promise<Reply> =>
  await gantry.api(`POST ${path}/award_emoji`, { as, json: { name } });

const db = () => gantry.service.platform.store.db;

const votes = async ({ id }: SeededIssue) => ({
  ...(await db()
    .selectFrom('issues')
    .select(['upvotes', 'downvotes', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()),
});

const version = async (): Promise<number> => {
  const query = db()
    .selectFrom('project_counters')
    .select('issues_version')
    .where('project_id', '=', project.id);
  return (await query.executeTakeFirstOrThrow()).issues_version;
};

const note = async (on: SeededIssue, as = stranger.token): Promise<{ id: number; path: string }> => {
  const { body } = await gantry.api(`POST ${issuePath(on)}/notes`, { as, json: { body: 'x' } });
  return { id: body.id, path: `${issuePath(on)}/notes/${body.id}` };
};

test('adds an award once, counts it as a vote and deletes it', async () => {
  const on = await issue();
  const { updated_at } = await votes(on);
  const made = await award(issuePath(on), 'thumbsup');
  assert.equal(made.status, 201);
  const { user, created_at, ...rest } = made.body;
  assert.deepEqual(rest, {
    id: made.body.id,
    name: 'thumbsup',
    updated_at: created_at,
    awardable_id: on.id,
    awardable_type: 'Issue',
  });
  assert.equal(user.username, fan.username);
  assert.deepEqual(await votes(on), { upvotes: 1, downvotes: 0, updated_at });
  const again = await award(issuePath(on), 'thumbsup');
  assert.deepEqual(
    [again.status, again.body.message],
    [404, '404 Award Emoji Name has already been taken Not Found'],
  );
  await award(issuePath(on), 'thumbsdown');
  await award(issuePath(on), 'rocket');
  assert.deepEqual(await votes(on), { upvotes: 1, downvotes: 1, updated_at });
  const path = `${issuePath(on)}/award_emoji/${made.body.id}`;
  assert.deepEqual((await gantry.api(`GET ${path}`)).body, made.body);
  const gone = await gantry.api(`DELETE ${path}`, { as: fan.token });
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.deepEqual(await votes(on), { upvotes: 0, downvotes: 1, updated_at });
  assert.equal((await gantry.api(`DELETE ${path}`, { as: fan.token })).status, 404);
});

test('lists awards in the order of creation', async () => {
  const on = await issue();
  for (const name of ['rocket', '+1', '100']) await award(issuePath(on), name);
  const reply = await gantry.api(`GET ${issuePath(on)}/award_emoji?per_page=2`);
  assert.deepEqual(
    reply.body.map((one: { name: string }) => one.name),
    ['rocket', 'thumbsup'],
  );
  assert.equal(reply.headers.get('x-total'), '3');
});

test('stores one of several equal concurrent awards', async () => {
  const on = await issue();
  const replies = await Promise.all(Array.from({ length: 6 }, () => award(issuePath(on), 'thumbsup')));
  const statuses = replies.map((reply) => reply.status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, 404, 404, 404, 404, 404]);
  assert.equal((await votes(on)).upvotes, 1);
  const [{ id }] = (await gantry.api(`GET ${issuePath(on)}/award_emoji`)).body;
  const line = `DELETE ${issuePath(on)}/award_emoji/${id}`;
  await Promise.all(Array.from({ length: 4 }, () => gantry.api(line, { as: fan.token })));
  assert.equal((await votes(on)).upvotes, 0);
});

test('refuses a name with other characters than letters, digits and marks', async () => {
  const on = await issue();
  for (const name of ['', ':rocket:', 'Rocket', 'a b', 'x'.repeat(255) + '!', '<b>', 'é']) {
    const reply = await award(issuePath(on), name);
    assert.ok([400, 404].includes(reply.status), name);
  }
  assert.equal(
    (await award(issuePath(on), 'x y')).body.message,
    '404 Award Emoji Name is not a valid emoji name Not Found',
  );
  const missing = await gantry.api(`POST ${issuePath(on)}/award_emoji`, { as: fan.token, json: {} });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "name" not given']);
});

test('lets the author vote on their own issue', async () => {
  const on = await issue({ author: fan.id });
  assert.equal((await award(issuePath(on), '+1')).status, 201);
  assert.equal((await votes(on)).upvotes, 1);
});

test('adds an award to a comment without a vote on its issue', async () => {
  const on = await issue();
  const { id, path } = await note(on);
  const made = await award(path, 'thumbsup');
  assert.deepEqual([made.status, made.body.awardable_id, made.body.awardable_type], [201, id, 'Note']);
  assert.equal((await votes(on)).upvotes, 0);
  assert.deepEqual((await gantry.api(`GET ${path}/award_emoji`)).body, [made.body]);
  assert.deepEqual((await gantry.api(`GET ${issuePath(on)}/award_emoji`)).body, []);
  assert.equal((await gantry.api(`GET ${issuePath(on)}/award_emoji/${made.body.id}`)).status, 404);
  assert.equal(
    (await gantry.api(`DELETE ${path}/award_emoji/${made.body.id}`, { as: fan.token })).status,
    204,
  );
});

test('refuses an award on a system note', async () => {
  const on = await issue();
  await gantry.service.platform.store.write(async (tx) => {
    await addSystemNotes(tx, 1, { type: 'Issue', id: on.id, project_id: on.project_id }, ['closed']);
  });
  const { id } = await db()
    .selectFrom('notes')
    .select('id')
    .where('target_id', '=', on.id)
    .executeTakeFirstOrThrow();
  const reply = await award(`${issuePath(on)}/notes/${id}`, 'rocket');
  assert.deepEqual(
    [reply.status, reply.body.message],
    [404, '404 Award Emoji Awardable cannot be awarded emoji Not Found'],
  );
});

test('lets only the author of an award or an administrator delete it', async () => {
  const on = await issue();
  const { body } = await award(issuePath(on), 'rocket');
  const line = `DELETE ${issuePath(on)}/award_emoji/${body.id}`;
  for (const as of [master.token, stranger.token]) assert.equal((await gantry.api(line, { as })).status, 401);
  const old = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  assert.equal((await gantry.api(line, { headers: old })).status, 412);
  assert.equal((await gantry.api(line)).status, 204);
});

test('finds an award only under its own record', async () => {
  const [one, two] = [await issue(), await issue()];
  const { body } = await award(issuePath(one), 'rocket');
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await gantry.api(`${method} ${issuePath(two)}/award_emoji/${body.id}`)).status, 404);
  }
  const { path } = await note(two);
  assert.equal((await gantry.api(`DELETE ${path}/award_emoji/${body.id}`)).status, 404);
  const elsewhere = path.replace(`/issues/${two.iid}/`, `/issues/${one.iid}/`);
  assert.equal((await award(elsewhere, 'rocket')).status, 404, 'a note of another issue');
});

test('answers 404 for awards on a hidden issue', async () => {
  const secret = await issue({ confidential: 1 });
  const { path } = await note(secret, master.token);
  const made = await award(issuePath(secret), 'rocket', master.token);
  const replies: string[] = [];
  for (const base of [issuePath(secret), path, `/projects/${project.id}/issues/999999`]) {
    for (const line of [
      `GET ${base}/award_emoji`,
      `POST ${base}/award_emoji`,
      `GET ${base}/award_emoji/${made.body.id}`,
      `DELETE ${base}/award_emoji/${made.body.id}`,
    ]) {
      const json = line.startsWith('POST') ? { name: 'rocket' } : undefined;
      const reply = await gantry.api(line, { as: stranger.token, json });
      replies.push(`${reply.status} ${reply.text}`);
    }
  }
  assert.deepEqual([...new Set(replies)], ['404 {"message":"404 Not found"}']);
  assert.equal((await gantry.api(`GET ${issuePath(secret)}/award_emoji`, { as: null })).status, 401);
});

test('marks the todo of the user who adds an award as done', async () => {
  const on = await issue();
  await gantry.api(`POST ${issuePath(on)}/notes`, { json: { body: `@${fan.username} ?` } });
  const state = async () =>
    (await db().selectFrom('todos').select('state').where('target_id', '=', on.id).executeTakeFirstOrThrow())
      .state;
  assert.equal(await state(), 'pending');
  await award(issuePath(on), 'rocket');
  assert.equal(await state(), 'done');
});

test('invalidates cached lists on every award, because lists can be filtered by awards', async () => {
  const on = await issue();
  const was = await version();
  const { body } = await award(issuePath(on), 'rocket');
  const afterAward = await version();
  assert.ok(afterAward > was);
  await gantry.api(`DELETE ${issuePath(on)}/award_emoji/${body.id}`);
  assert.ok((await version()) > afterAward);
});

test('deletes the awards of a deleted comment', async () => {
  const on = await issue();
  const { id, path } = await note(on);
  await award(path, 'rocket');
  await gantry.api(`DELETE ${path}`);
  const rows = await db()
    .selectFrom('award_emoji')
    .select('id')
    .where('target_type', '=', 'Note')
    .where('target_id', '=', id)
    .execute();
  assert.deepEqual(rows, []);
});
