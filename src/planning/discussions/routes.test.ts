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
import { type Reply, type TestService, rootToken, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let developer: SeededUser;
let reporter: SeededUser;
let stranger: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  [developer, reporter, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
});
after(async () => await gantry.close());

const issue = async (fields: Partial<IssueSeed> = {}): Promise<SeededIssue> =>
  await seedIssue(gantry, { project: project.id, ...fields });

const toPath = ({ project_id, iid }: SeededIssue): string => `/projects/${project_id}/issues/${iid}`;
const toDiscussionsPath = (on: SeededIssue): string => `${toPath(on)}/discussions`;

const begin = async (on: SeededIssue, body = 'Why?', as = stranger.token): Promise<Reply> =>
  await gantry.api(`POST ${toDiscussionsPath(on)}`, { as, json: { body } });

const reply = async (on: SeededIssue, id: string, body = 'Because.', as = stranger.token): Promise<Reply> =>
  await gantry.api(`POST ${toDiscussionsPath(on)}/${id}/notes`, { as, json: { body } });

const resolve = async (on: SeededIssue, id: string, resolved: boolean, as = developer.token) =>
  await gantry.api(`PUT ${toDiscussionsPath(on)}/${id}?resolved=${resolved}`, { as });

const all = async (on: SeededIssue, query = ''): Promise<Reply> =>
  await gantry.api(`GET ${toDiscussionsPath(on)}${query}`);

test('refuses internal comments from those who could not read them', async () => {
  const on = await issue();
  for (const path of [`${toPath(on)}/notes`, toDiscussionsPath(on)])
    for (const name of ['internal', 'confidential']) {
      const as = stranger.token;
      const refused = await gantry.api(`POST ${path}`, { as, json: { body: '/close', [name]: true } });
      assert.deepEqual([refused.status, refused.body], [403, { message: '403 Forbidden' }]);
      const json = { body: `not ${name}`, [name]: false };
      assert.equal((await gantry.api(`POST ${path}`, { json })).status, 201);
    }
  assert.equal((await gantry.api(`GET ${toPath(on)}`)).body.state, 'opened');
});

test('lets everyone who sees the issue start a thread and reply', async () => {
  const on = await issue();
  gantry.setTime(Date.UTC(2030, 0, 2));
  const made = await begin(on);
  assert.equal(made.status, 201);
  assert.match(made.body.id, /^[0-9a-f]{40}$/);
  const [note] = made.body.notes;
  assert.deepEqual(made.body, { id: made.body.id, individual_note: false, notes: [note] });
  const time = '2030-01-02T00:00:00.000Z';
  assert.deepEqual(note, {
    id: note.id,
    type: 'DiscussionNote',
    body: 'Why?',
    attachment: null,
    author: note.author,
    created_at: time,
    updated_at: time,
    system: false,
    noteable_id: on.id,
    noteable_type: 'Issue',
    noteable_iid: on.iid,
    project_id: project.id,
    resolvable: true,
    resolved: false,
    resolved_by: null,
    resolved_at: null,
    confidential: false,
    internal: false,
  });
  assert.equal(note.author.username, stranger.username);
  const answer = await reply(on, made.body.id);
  gantry.setTime(null);
  assert.deepEqual([answer.status, answer.body.type, answer.body.body], [201, 'DiscussionNote', 'Because.']);
  const one = await gantry.api(`GET ${toDiscussionsPath(on)}/${made.body.id}`);
  assert.deepEqual(
    one.body.notes.map(({ id }: { id: number }) => id),
    [note.id, answer.body.id],
  );
  assert.equal((await gantry.api(`GET ${toPath(on)}`)).body.user_notes_count, 2);
  assert.equal((await gantry.api(`GET ${toPath(on)}/notes/${note.id}`)).body.type, 'DiscussionNote');
});

test('shows a standalone comment as a discussion that keeps its id after a reply', async () => {
  const on = await issue();
  const note = await gantry.api(`POST ${toPath(on)}/notes`, { json: { body: 'Plain' } });
  const [before] = (await all(on)).body;
  assert.deepEqual(
    [before.individual_note, before.notes[0].type, before.notes[0].resolvable],
    [true, null, false],
  );
  assert.deepEqual((await gantry.api(`GET ${toDiscussionsPath(on)}/${before.id}`)).body, before);
  assert.equal((await reply(on, before.id)).status, 201);
  const [after_] = (await all(on)).body;
  assert.deepEqual([after_.id, after_.individual_note], [before.id, false]);
  assert.deepEqual(
    after_.notes.map(({ type, resolvable }: { type: string; resolvable: boolean }) => [type, resolvable]),
    [
      ['DiscussionNote', true],
      ['DiscussionNote', true],
    ],
  );
  assert.equal(after_.notes[0].id, note.body.id);
});

test('lists discussions the oldest first, and counts and pages discussions', async () => {
  const on = await issue();
  const first = await begin(on, 'first');
  await gantry.api(`POST ${toPath(on)}/notes`, { json: { body: 'second' } });
  await begin(on, 'third');
  await reply(on, first.body.id, 'late');
  const bodies = (reply_: Reply) =>
    reply_.body.map(({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body));
  const page = await all(on, '?per_page=2');
  assert.deepEqual(bodies(page), [['first', 'late'], ['second']]);
  assert.deepEqual([page.headers.get('x-total'), page.headers.get('x-next-page')], ['3', '2']);
  assert.deepEqual(bodies(await all(on, '?per_page=2&page=2')), [['third']]);
  assert.deepEqual((await all(on, '?page=9')).body, []);
  assert.deepEqual((await all(await issue())).body, []);
});

test('lets developers and the author of the issue resolve and reopen a thread', async () => {
  const on = await issue({ author: stranger.id });
  const { id } = (await begin(on)).body;
  await reply(on, id);
  for (const [as, username] of [
    [developer.token, developer.username],
    [stranger.token, stranger.username],
  ] as const) {
    const done = await resolve(on, id, true, as);
    assert.equal(done.status, 200);
    for (const note of done.body.notes) {
      assert.deepEqual([note.resolved, note.resolved_by.username], [true, username]);
      assert.match(note.resolved_at, /^\d{4}-/);
    }
    const again = await resolve(on, id, false, as);
    assert.deepEqual(
      again.body.notes.map((note: { resolved: boolean; resolved_by: null; resolved_at: null }) => [
        note.resolved,
        note.resolved_by,
        note.resolved_at,
      ]),
      [
        [false, null, null],
        [false, null, null],
      ],
    );
  }
});

test('refuses resolving by other users and resolving a standalone comment', async () => {
  const on = await issue();
  const { id } = (await begin(on)).body;
  assert.equal((await resolve(on, id, true, reporter.token)).status, 403);
  assert.equal((await resolve(on, id, true, stranger.token)).status, 403);
  await gantry.api(`POST ${toPath(on)}/notes`, { json: { body: 'Plain' } });
  const [, plain] = (await all(on)).body;
  assert.equal((await resolve(on, plain.id, true)).status, 403);
  const missing = await gantry.api(`PUT ${toDiscussionsPath(on)}/${id}`, { as: developer.token });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "resolved" not given']);
});

test('keeps the first resolver when a thread is resolved twice', async () => {
  const on = await issue();
  const { id } = (await begin(on)).body;
  await resolve(on, id, true);
  const again = await resolve(on, id, true, rootToken);
  assert.equal(again.body.notes[0].resolved_by.username, developer.username);
});

test('keeps the resolver of notes resolved before, and changes nothing in a settled thread', async () => {
  const on = await issue();
  const made = await begin(on);
  const { id } = made.body;
  const note = `${toDiscussionsPath(on)}/${id}/notes/${made.body.notes[0].id}`;
  await reply(on, id);
  await gantry.api(`PUT ${note}`, { as: developer.token, json: { resolved: true } });
  const done = await resolve(on, id, true, rootToken);
  assert.deepEqual(
    done.body.notes.map(({ resolved_by }: { resolved_by: { username: string } }) => resolved_by.username),
    [developer.username, 'root'],
  );
  const updated = async () => (await gantry.api(`GET ${toPath(on)}`)).body.updated_at;
  const before_ = await updated();
  await resolve(on, id, true);
  assert.equal(await updated(), before_);
});

test('keeps a resolved thread resolved after a reply', async () => {
  const on = await issue();
  const { id } = (await begin(on)).body;
  await resolve(on, id, true);
  const answer = await reply(on, id);
  assert.deepEqual([answer.body.resolved, answer.body.resolved_by.username], [true, stranger.username]);
});

test('edits, resolves and deletes a single comment of a thread', async () => {
  const on = await issue();
  const made = await begin(on);
  const path = `${toDiscussionsPath(on)}/${made.body.id}/notes/${made.body.notes[0].id}`;
  const put = async (as: string, json: object) => await gantry.api(`PUT ${path}`, { as, json });
  const read = await gantry.api(`GET ${path}`, { as: reporter.token });
  assert.deepEqual([read.status, read.body], [200, made.body.notes[0]]);
  assert.equal((await put(reporter.token, { body: 'Other' })).status, 403);
  assert.equal((await put(stranger.token, { body: 'Other' })).body.body, 'Other');
  assert.equal((await put(stranger.token, { resolved: true })).status, 403);
  assert.equal((await put(developer.token, { resolved: true })).body.resolved, true);
  for (const json of [{}, { body: 'x', resolved: true }]) {
    const refused = await put(stranger.token, json);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [400, '400 (Bad request) exactly one of body, resolved must be given'],
    );
  }
  assert.equal((await gantry.api(`DELETE ${path}`, { as: reporter.token })).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}`, { as: stranger.token })).status, 204);
  assert.equal((await gantry.api(`GET ${toDiscussionsPath(on)}/${made.body.id}`)).status, 404);
});

test('answers the same 404 for missing discussions, hidden ones and those on another issue', async () => {
  const [on, other] = [await issue(), await issue()];
  const made = await begin(on);
  const { id } = made.body;
  const nothing = async (line: string, json?: object) => {
    const answer = await gantry.api(line, { as: stranger.token, ...(json && { json }) });
    assert.equal(answer.status, 404, line);
    return answer.body.message;
  };
  const noted = `notes/${made.body.notes[0].id}`;
  const expected = '404 Discussion Not Found';
  assert.equal(await nothing(`GET ${toDiscussionsPath(other)}/${id}`), expected);
  assert.equal(await nothing(`GET ${toDiscussionsPath(on)}/${'0'.repeat(40)}`), expected);
  assert.equal(await nothing(`GET ${toDiscussionsPath(on)}/x`), expected);
  assert.equal(await nothing(`PUT ${toDiscussionsPath(other)}/${id}`, { resolved: true }), expected);
  assert.equal(await nothing(`POST ${toDiscussionsPath(other)}/${id}/notes`, { body: 'x' }), expected);
  assert.equal(await nothing(`GET ${toDiscussionsPath(other)}/${id}/${noted}`), expected);
  assert.equal(await nothing(`GET ${toDiscussionsPath(on)}/${id}/notes/0`), '404 Not found');
  assert.equal(await nothing(`PUT ${toDiscussionsPath(other)}/${id}/${noted}`, { body: 'x' }), expected);
  assert.equal(await nothing(`DELETE ${toDiscussionsPath(other)}/${id}/${noted}`), expected);
  assert.equal(await nothing(`DELETE ${toDiscussionsPath(on)}/${id}/notes/0`), '404 Not found');
  const hidden = await issue({ confidential: 1 });
  const { id: secret } = (await begin(hidden, 'Secret', developer.token)).body;
  assert.equal(await nothing(`GET ${toDiscussionsPath(hidden)}`), '404 Not found');
  assert.equal(await nothing(`GET ${toDiscussionsPath(hidden)}/${secret}`), '404 Not found');
});

test('refuses a thread without a text and replies to a system note', async () => {
  const on = await issue();
  const missing = await gantry.api(`POST ${toDiscussionsPath(on)}`, { json: {} });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "body" not given']);
  assert.deepEqual((await begin(on, ' ')).body.message, { note: ["can't be blank"] });
  await gantry.api(`PUT ${toPath(on)}`, { json: { state_event: 'close' } });
  const [noted] = (await all(on)).body;
  assert.deepEqual([noted.individual_note, noted.notes[0].system], [true, true]);
  const refused = await reply(on, noted.id);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, '400 (Bad request) Discussion can not be replied to.'],
  );
});

test('puts two concurrent replies to a standalone comment into one thread', async () => {
  const on = await issue();
  await gantry.api(`POST ${toPath(on)}/notes`, { json: { body: 'Plain' } });
  const [{ id }] = (await all(on)).body;
  const answers = await Promise.all(Array.from({ length: 8 }, async () => await reply(on, id)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 201),
  );
  const { body } = await all(on);
  assert.equal(body.length, 1);
  assert.equal(body[0].notes.length, 9);
});

test('limits a discussion to a thousand comments', async () => {
  const on = await issue();
  const { id, notes } = (await begin(on)).body;
  await gantry.service.platform.store.write(async ({ db }) => {
    const { id: _id, ...row } = await db
      .selectFrom('notes')
      .selectAll()
      .where('id', '=', notes[0].id)
      .executeTakeFirstOrThrow();
    await db
      .insertInto('notes')
      .values(Array.from({ length: 998 }, () => row))
      .execute();
  });
  assert.equal((await reply(on, id)).status, 201);
  const full = await reply(on, id);
  assert.deepEqual(
    [full.status, full.body.message],
    [400, { base: ['Maximum number of comments exceeded'] }],
  );
  const resolved = await resolve(on, id, true);
  assert.equal(resolved.body.notes.length, 1000);
  assert.ok(resolved.body.notes.every((note: { resolved: boolean }) => note.resolved));
});
