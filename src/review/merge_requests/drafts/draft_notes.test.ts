import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let reviewer: SeededUser;
let other: SeededUser;
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  [reviewer, other] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: reviewer.id, project: project.id, access_level: 30 });
});
after(async () => await gantry.close());

let number = 0;
type Opened = { id: number; path: string; diff_refs: object };

const opened = async (): Promise<Opened> => {
  const branch = `drafted-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  const { id, iid, diff_refs } = request;
  return { id, diff_refs, path: `/projects/${project.id}/merge_requests/${iid}` };
};

const api = async (line: string, json?: object, as = reviewer): Promise<Reply> =>
  await gantry.api(line, { as: as.token, ...(json && { json }) });

const bodies = async (path: string): Promise<string[]> => {
  const { body } = await api(`GET ${path}/notes?sort=asc&order_by=created_at`);
  return body.filter((note: { system: boolean }) => !note.system).map((note: { body: string }) => note.body);
};

test('lets only the author create, read, edit and delete a draft', async () => {
  const { id, path } = await opened();
  const made = await api(`POST ${path}/draft_notes`, { note: 'Not yet' });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body, {
    id: made.body.id,
    author_id: reviewer.id,
    merge_request_id: id,
    resolve_discussion: false,
    discussion_id: null,
    note: 'Not yet',
    commit_id: null,
    position: null,
    line_code: null,
  });
  const one = `${path}/draft_notes/${made.body.id}`;
  assert.deepEqual((await api(`GET ${one}`)).body, made.body);
  assert.deepEqual((await api(`GET ${path}/draft_notes`)).body, [made.body]);
  const changed = await api(`PUT ${one}`, { note: 'Now then' });
  assert.deepEqual([changed.status, changed.body], [200, { ...made.body, note: 'Now then' }]);
  assert.deepEqual((await api(`GET ${path}/draft_notes`, undefined, other)).body, []);
  const missing = (await api(`GET ${path}/draft_notes/999999`, undefined, other)).body;
  for (const line of [`GET ${one}`, `PUT ${one}`, `DELETE ${one}`, `PUT ${one}/publish`]) {
    const { status, body } = await api(line, line === `PUT ${one}` ? { note: 'Mine' } : undefined, other);
    assert.deepEqual([status, body], [404, missing], line);
  }
  assert.deepEqual(await bodies(path), []);
  assert.equal((await api(`DELETE ${one}`)).status, 204);
  assert.equal((await api(`GET ${one}`)).status, 404);
});

test('publishes drafts as comments, threads on lines and replies, each once', async () => {
  const { path, diff_refs } = await opened();
  const thread = await api(`POST ${path}/discussions`, { body: 'Why?' }, other);
  const draft = async (json: object) => {
    const made = await api(`POST ${path}/draft_notes`, json);
    assert.equal(made.status, 201, made.text);
    return made.body as { id: number };
  };
  const { body: changes } = await api(`GET ${path}/changes`);
  const [{ new_path }] = changes.changes;
  const position = { ...diff_refs, position_type: 'text', new_path, old_path: new_path, new_line: 1 };
  await draft({ note: 'On a line', position });
  await draft({ note: 'Because', in_reply_to_discussion_id: thread.body.id, resolve_discussion: true });
  const alone = await draft({ note: 'In general' });
  assert.equal((await api(`PUT ${path}/draft_notes/${alone.id}/publish`)).status, 204);
  assert.deepEqual(await bodies(path), ['Why?', 'In general']);
  const both = await Promise.all([1, 2].map(async () => await api(`POST ${path}/draft_notes/bulk_publish`)));
  assert.deepEqual(
    both.map(({ status }) => status),
    [204, 204],
  );
  assert.deepEqual((await bodies(path)).toSorted(), ['Because', 'In general', 'On a line', 'Why?']);
  const answered = await api(`GET ${path}/discussions/${thread.body.id}`);
  assert.deepEqual(
    answered.body.notes.map((note: { body: string; resolved: boolean }) => [note.body, note.resolved]),
    [
      ['Why?', true],
      ['Because', true],
    ],
  );
  const { body: discussions } = await api(`GET ${path}/discussions`);
  const onLine = discussions.find((one: { notes: { body: string }[] }) => one.notes[0]?.body === 'On a line');
  assert.deepEqual([onLine.notes[0].type, onLine.notes[0].position.new_line], ['DiffNote', 1]);
  assert.deepEqual((await api(`GET ${path}/draft_notes`)).body, []);
});

test('validates a draft like a comment', async () => {
  const { path, diff_refs } = await opened();
  const refused = async (json: object, as = reviewer) =>
    (await api(`POST ${path}/draft_notes`, json, as)).status;
  assert.equal(await refused({ note: ' ' }), 400);
  assert.equal(await refused({ note: 'x', in_reply_to_discussion_id: '0'.repeat(40) }), 404);
  const position = { ...diff_refs, position_type: 'text', new_path: 'none', old_path: 'none', new_line: 1 };
  assert.equal(await refused({ note: 'x', position }), 400);
  assert.equal((await gantry.api(`POST ${path}/draft_notes`, { as: null, json: { note: 'x' } })).status, 401);
  assert.deepEqual((await api(`GET ${path}/draft_notes`)).body, []);
});

test('runs the quick actions of a draft once across concurrent publications', async () => {
  const { path } = await opened();
  const spent = async (): Promise<number> => (await api(`GET ${path}/time_stats`)).body.total_time_spent;
  const publishAtOnce = async (note: string): Promise<number[]> => {
    const { body } = await api(`POST ${path}/draft_notes`, { note });
    const line = `PUT ${path}/draft_notes/${body.id}/publish`;
    const replies = await Promise.all([1, 2, 3].map(async () => await api(line)));
    return replies.map(({ status }) => status).toSorted((a, b) => a - b);
  };
  assert.deepEqual(await publishAtOnce('Done\n/spend 1h'), [204, 404, 404]);
  assert.deepEqual([await bodies(path), await spent()], [['Done'], 3600]);
  assert.deepEqual(await publishAtOnce('/spend 1h'), [204, 404, 404]);
  assert.deepEqual([await bodies(path), await spent()], [['Done'], 7200]);
});

test('keeps a reply to a deleted discussion as a draft, without effects', async () => {
  const { path } = await opened();
  const { body: thread } = await api(`POST ${path}/discussions`, { body: 'Why?' });
  const note = 'So\n/spend 1h';
  const answer = { note, in_reply_to_discussion_id: thread.id };
  const { body: draft } = await api(`POST ${path}/draft_notes`, answer);
  await api(`DELETE ${path}/discussions/${thread.id}/notes/${thread.notes[0].id}`);
  assert.equal((await api(`PUT ${path}/draft_notes/${draft.id}/publish`)).status, 404);
  assert.equal((await api(`POST ${path}/draft_notes/bulk_publish`)).status, 204);
  assert.equal((await api(`GET ${path}/time_stats`)).body.total_time_spent, 0);
  assert.deepEqual((await api(`GET ${path}/draft_notes`)).body, [draft]);
});

test('resolves a discussion by a draft of quick actions only; keeps the draft if they fail', async () => {
  const { path } = await opened();
  const { body: thread } = await api(`POST ${path}/discussions`, { body: 'Why?' });
  const answer = { note: '/spend 1h', in_reply_to_discussion_id: thread.id, resolve_discussion: true };
  await api(`POST ${path}/draft_notes`, answer);
  assert.equal((await api(`POST ${path}/draft_notes/bulk_publish`)).status, 204);
  const { body: read } = await api(`GET ${path}/discussions/${thread.id}`);
  assert.deepEqual([read.notes.length, read.notes[0].resolved], [1, true]);
  const { body: draft } = await api(`POST ${path}/draft_notes`, { note: '/reopen' });
  const refused = await api(`PUT ${path}/draft_notes/${draft.id}/publish`);
  assert.deepEqual(
    [refused.status, refused.body.message.commands_only],
    [400, ['Failed to apply commands.']],
  );
  assert.deepEqual((await api(`GET ${path}/draft_notes`)).body, [draft]);
});

test('stores the verdict of a review before its quick actions merge', async () => {
  const review = async (note: string) => {
    const { path } = await opened();
    await settle(gantry);
    const published = await gantry.api(`POST ${path}/draft_notes/bulk_publish`, {
      json: { note, reviewer_state: 'approved' },
    });
    assert.equal(published.status, 204, published.text);
    const { body } = await gantry.api(`GET ${path}`);
    const { body: approvals } = await gantry.api(`GET ${path}/approvals`);
    return [body.state, approvals.approved_by.length, await bodies(path)];
  };
  assert.deepEqual(await review('Fine\n/merge'), ['merged', 1, ['Fine']]);
  assert.deepEqual(await review('/merge'), ['merged', 1, []]);
  assert.deepEqual(await review('/approve'), ['opened', 1, []]);
});
