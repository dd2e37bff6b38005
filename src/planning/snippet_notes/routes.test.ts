/** Comments, threads and awards on snippets of projects: the API, the change log, webhooks and mails. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import {
  type SeededProject,
  type SeededUser,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';

let gantry: MailingService;
let receiver: HookReceiver;
let project: SeededProject;
let author: SeededUser;
let reader: SeededUser;
let guest: SeededUser;
let snippets: string;

before(async () => {
  [gantry, receiver] = await Promise.all([startMailingService({}), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
  [author, reader, guest] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry, { visibility: 'internal' });
  await seedMember(gantry, { user: author.id, project: project.id, access_level: 20 });
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
  snippets = `/projects/${project.id}/snippets`;
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(async () => {
  await gantry.service.worker.drain();
  receiver.clear();
  gantry.smtp.clear();
});

const send = async (line: string, json: object = {}, { token: as } = reader) => {
  const { status, body, text } = await gantry.api(line, { as, ...(!line.startsWith('GET') && { json }) });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

/** A snippet of the author. @returns its id and its path */
const makeSnippet = async (overrides: object = {}): Promise<{ id: number; path: string }> => {
  const json = { title: 'Splice', content: 'a\nb', file_name: 'a.txt', visibility: 'internal', ...overrides };
  const { id } = await send(`POST ${snippets}`, json, author);
  return { id, path: `${snippets}/${id}` };
};

const statusOf = async (line: string, { token: as }: SeededUser, json: object = {}): Promise<number> =>
  (await gantry.api(line, { as, ...(line.startsWith('GET') ? {} : { json }) })).status;

test('comments on a snippet are created, listed, read, edited and deleted', async () => {
  const { id, path } = await makeSnippet();
  const before = await send(`GET ${path}`);
  const made = await send(`POST ${path}/notes`, { body: 'Looks *good*' });
  assert.deepEqual(made, {
    id: made.id,
    type: null,
    body: 'Looks *good*',
    attachment: null,
    author: made.author,
    created_at: made.created_at,
    updated_at: made.updated_at,
    system: false,
    noteable_id: id,
    noteable_type: 'Snippet',
    noteable_iid: null,
    project_id: project.id,
    resolvable: false,
    confidential: false,
    internal: false,
  });
  assert.equal(made.author.username, reader.username);
  const one = `${path}/notes/${made.id}`;
  assert.deepEqual((await gantry.api(`GET ${one}`, { as: reader.token })).body, made);
  const second = await send(`POST ${path}/notes`, { body: 'Second' }, author);
  const list = await gantry.api(`GET ${path}/notes?sort=asc`, { as: reader.token });
  assert.deepEqual(
    [list.body.map((note: { id: number }) => note.id), list.headers.get('x-total')],
    [[made.id, second.id], '2'],
  );
  assert.equal((await send(`PUT ${one}`, { body: 'Looks better' })).body, 'Looks better');
  assert.equal(await statusOf(`PUT ${one}`, author, { body: 'Mine' }), 403);
  assert.equal(await statusOf(`POST ${path}/notes`, reader, { body: ' ' }), 400);
  assert.equal(await statusOf(`DELETE ${one}`, author), 403);
  assert.equal(await statusOf(`DELETE ${one}`, reader), 204);
  assert.equal(await statusOf(`GET ${one}`, reader), 404);
  // A comment is no change of the snippet.
  assert.deepEqual(await send(`GET ${path}`), before);
});

test('comments on a snippet are visible as the snippet is', async () => {
  const { path } = await makeSnippet({ visibility: 'private' });
  const { id } = await send(`POST ${path}/notes`, { body: 'Hidden' }, author);
  for (const below of ['', `/${id}`]) {
    assert.equal(await statusOf(`GET ${path}/notes${below}`, guest), 200);
    assert.equal(await statusOf(`GET ${path}/notes${below}`, reader), 404);
  }
  for (const line of [`POST ${path}/notes`, `POST ${path}/discussions`, `PUT ${path}/notes/${id}`])
    assert.equal(await statusOf(line, reader, { body: 'x' }), 404);
  assert.equal(await statusOf(`POST ${path}/award_emoji`, reader, { name: 'heart' }), 404);
  const off = await seedProject(gantry, { visibility: 'internal' });
  const { body } = await gantry.api(`POST /projects/${off.id}/snippets`, {
    json: { title: 'x', content: 'x', file_name: 'x', visibility: 'internal' },
  });
  const notes = `/projects/${off.id}/snippets/${body.id}/notes`;
  assert.equal(await statusOf(`GET ${notes}`, reader), 200);
  await gantry.api(`PUT /projects/${off.id}`, { json: { snippets_access_level: 'disabled' } });
  assert.equal(await statusOf(`GET ${notes}`, reader), 403);
});

test('threads on a snippet have replies and are not resolved', async () => {
  const { path } = await makeSnippet();
  const thread = await send(`POST ${path}/discussions`, { body: 'Why?' });
  assert.deepEqual(
    [thread.individual_note, thread.notes[0].type, thread.notes[0].resolvable],
    [false, 'DiscussionNote', false],
  );
  const reply = await send(`POST ${path}/discussions/${thread.id}/notes`, { body: 'So' }, author);
  assert.equal(reply.resolvable, false);
  const alone = await send(`POST ${path}/notes`, { body: 'Alone' });
  const listed = await send(`GET ${path}/discussions`);
  assert.deepEqual(
    listed.map(({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body)),
    [['Why?', 'So'], ['Alone']],
  );
  await send(`POST ${path}/discussions/${listed[1].id}/notes`, { body: 'No more' }, author);
  const joined = await send(`GET ${path}/discussions/${listed[1].id}`);
  assert.deepEqual(
    joined.notes.map(({ id, resolvable }: { id: number; resolvable: boolean }) => [id > 0, resolvable]),
    [
      [true, false],
      [true, false],
    ],
  );
  assert.equal(joined.notes[0].id, alone.id);
  const note = `${path}/discussions/${thread.id}/notes/${reply.id}`;
  assert.equal((await send(`PUT ${note}`, { body: 'So what' }, author)).body, 'So what');
  assert.equal(await statusOf(`PUT ${path}/discussions/${thread.id}`, author, { resolved: true }), 405);
  assert.equal(await statusOf(`DELETE ${note}`, author), 204);
});

test('emoji are awarded to a snippet and to its comments', async () => {
  const { path, id } = await makeSnippet();
  const award = await send(`POST ${path}/award_emoji`, { name: 'thumbsup' });
  assert.deepEqual([award.awardable_type, award.awardable_id, award.name], ['Snippet', id, 'thumbsup']);
  assert.equal(await statusOf(`POST ${path}/award_emoji`, reader, { name: 'thumbsup' }), 404);
  const note = await send(`POST ${path}/notes`, { body: 'x' });
  const second = await send(`POST ${path}/notes/${note.id}/award_emoji`, { name: 'heart' }, author);
  assert.equal(second.awardable_type, 'Note');
  assert.deepEqual(await send(`GET ${path}/award_emoji`), [award]);
  assert.deepEqual(await send(`GET ${path}/notes/${note.id}/award_emoji`), [second]);
  assert.equal(await statusOf(`DELETE ${path}/award_emoji/${award.id}`, reader), 204);
  assert.deepEqual(await send(`GET ${path}/award_emoji`), []);
});

test('hooks get comments and emoji with their snippet', async () => {
  const hook = { url: receiver.url, push_events: false, note_events: true, emoji_events: true };
  const { body: made } = await gantry.api(`POST /projects/${project.id}/hooks`, { json: hook });
  const { path, id } = await makeSnippet();
  const note = await send(`POST ${path}/notes`, { body: 'Seen' });
  await send(`POST ${path}/award_emoji`, { name: 'heart' });
  await gantry.service.worker.drain();
  await gantry.api(`DELETE /projects/${project.id}/hooks/${made.id}`);
  const [first, second] = receiver.received;
  const url = `${gantry.url}/${project.full_path}/snippets/${id}`;
  assert.equal(first?.headers['x-gitlab-event'], 'Note Hook');
  assert.equal(first?.body.object_kind, 'note');
  const { object_attributes: attributes, snippet } = first?.body ?? {};
  assert.deepEqual(
    [attributes.noteable_type, attributes.noteable_id, attributes.action, attributes.url],
    ['Snippet', id, 'create', `${url}#note_${note.id}`],
  );
  const { created_at, updated_at, ...rest } = snippet;
  assert.ok(created_at === updated_at);
  assert.deepEqual(rest, {
    id,
    title: 'Splice',
    description: null,
    content: 'a\nb',
    author_id: author.id,
    project_id: project.id,
    file_name: 'a.txt',
    type: 'ProjectSnippet',
    visibility_level: 10,
    url,
  });
  assert.deepEqual(
    [second?.body.object_kind, second?.body.object_attributes.awarded_on_url, second?.body.snippet.id],
    ['emoji', url, id],
  );
});

test('the change log and activity show comments to those who see the snippet', async () => {
  const start = (await send('GET /changes?wait=0')).next_after;
  const { path, id } = await makeSnippet({ visibility: 'private' });
  const note = await send(`POST ${path}/notes`, { body: 'Logged' }, author);
  const changesFor = async (user: SeededUser) =>
    (await send(`GET /changes?after=${start}`, {}, user)).changes.map(
      (change: { kind: string; action: string; target_type: string; target_iid: number }) => [
        change.kind,
        change.action,
        change.target_type,
        change.target_iid,
      ],
    );
  assert.deepEqual(await changesFor(guest), [
    ['snippet', 'created', 'Snippet', id],
    ['note', 'created', 'Snippet', id],
  ]);
  assert.deepEqual(await changesFor(reader), []);
  const events = `GET /projects/${project.id}/events?target_type=note`;
  const [latest] = await send(events, {}, guest);
  assert.deepEqual(
    [latest.action_name, latest.target_id, latest.target_title, latest.note.noteable_type],
    ['commented on', note.id, 'Splice', 'Snippet'],
  );
  const seen = await send(events);
  assert.ok(seen.every((event: { target_id: number }) => event.target_id !== note.id));
});

test('authors of snippets and mentioned users get mails about comments', async () => {
  const { path, id } = await makeSnippet();
  const { id: noteId } = await send(`POST ${path}/notes`, { body: `See @${guest.username}` });
  const [[first], [second], toReader] = [
    await gantry.mailsTo(author),
    await gantry.mailsTo(guest),
    await gantry.mailsTo(reader),
  ];
  assert.match(first?.subject ?? '', new RegExp(`Splice \\(\\$${id}\\)$`));
  assert.ok(first?.text.includes(`/snippets/${id}#note_${noteId}`));
  assert.match(first?.header('list-unsubscribe') ?? '', /\/-\/unsubscribe\/\d+-Project-\d+\./);
  assert.equal(second?.header('x-gitlab-notificationreason'), 'mentioned');
  assert.deepEqual(toReader, []);
  const todos = await send('GET /todos', {}, guest);
  assert.deepEqual(todos, []);
});

/** How many comments, awards and mentions a snippet has. */
const left = async (id: number): Promise<number[]> =>
  await Promise.all(
    (['notes', 'award_emoji', 'mentions'] as const).map(
      async (table) =>
        (
          await gantry.service.platform.store.db
            .selectFrom(table)
            .select('target_id')
            .where('target_type', '=', 'Snippet')
            .where('target_id', '=', id)
            .execute()
        ).length,
    ),
  );
/** Comments on a snippet, with a mention and reactions. */
const fill = async ({ path }: { path: string }): Promise<void> => {
  const note = await send(`POST ${path}/notes`, { body: `@${guest.username}` });
  await send(`POST ${path}/notes/${note.id}/award_emoji`, { name: 'heart' });
  await send(`POST ${path}/award_emoji`, { name: 'heart' });
};

test('comments leave with their snippet', async () => {
  const { db } = gantry.service.platform.store;
  const [kept, gone] = [await makeSnippet(), await makeSnippet()];
  await fill(kept);
  await fill(gone);
  const issue = await seedIssue(gantry, { project: project.id, author: author.id });
  await send(`POST /projects/${project.id}/issues/${issue.iid}/notes`, { body: 'x' });
  const awards = async (): Promise<number> =>
    (await db.selectFrom('award_emoji').select('id').execute()).length;
  const all = await awards();
  assert.equal(await statusOf(`DELETE ${gone.path}`, author), 204);
  assert.deepEqual(await left(gone.id), [0, 0, 0]);
  assert.equal(await awards(), all - 2);
  assert.deepEqual(await left(kept.id), [1, 1, 1]);
  const notes = await send(`GET /projects/${project.id}/issues/${issue.iid}/notes`);
  assert.equal(notes.length, 1);
});

test('comments leave with the author of their snippet, and with its project', async () => {
  const kept = await makeSnippet();
  await fill(kept);
  const leaver = await seedUser(gantry);
  await seedMember(gantry, { user: leaver.id, project: project.id, access_level: 20 });
  const json = { title: 'Left', content: 'x', visibility: 'internal' };
  const { id } = await send(`POST ${snippets}`, json, leaver);
  await fill({ path: `${snippets}/${id}` });
  assert.equal((await gantry.api(`DELETE /users/${leaver.id}`)).status, 204);
  assert.deepEqual(await left(id), [0, 0, 0]);
  await gantry.api(`DELETE /projects/${project.id}`);
  await gantry.service.worker.drain();
  assert.deepEqual(await left(kept.id), [0, 0, 0]);
});
