import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let author: SeededUser;
let other: SeededUser;
before(async () => {
  gantry = await startTestService();
  [author, other] = [await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');

const place = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  await seedMember(gantry, { user: author.id, project: project.id, access_level: 20 });
  const first = await seedCommit(gantry, project.id, { 'a.txt': lines('1', '2', '3') });
  const sha = await seedCommit(gantry, project.id, { 'a.txt': lines('1', 'two', '3') });
  const commit = `/projects/${project.id}/repository/commits/${sha}`;
  return { project, first, sha, commit, path: `${commit}/discussions` };
};

const api = async (line: string, json?: object, as = author): Promise<Reply> =>
  await gantry.api(line, { as: as.token, ...(json && { json }) });

test('creates threads on a commit and on lines that it changed', async () => {
  const { first, sha, commit, path, project } = await place();
  const position = {
    base_sha: first,
    start_sha: first,
    head_sha: sha,
    position_type: 'text',
    old_path: 'a.txt',
    new_path: 'a.txt',
    old_line: null,
    new_line: 2,
  };
  const made = await api(`POST ${path}`, { body: 'Why?', position });
  assert.equal(made.status, 201, made.text);
  const [note] = made.body.notes;
  assert.deepEqual(made.body.individual_note, false);
  assert.partialDeepStrictEqual(note, {
    type: 'DiffNote',
    body: 'Why?',
    noteable_type: 'Commit',
    noteable_id: null,
    noteable_iid: null,
    commit_id: sha,
    project_id: project.id,
    resolvable: false,
    position: { ...position, line_range: null },
  });
  const answer = await api(`POST ${path}/${made.body.id}/notes`, { body: 'So' }, other);
  assert.deepEqual([answer.status, answer.body.type, answer.body.author.id], [201, 'DiffNote', other.id]);
  const shown = await api(`GET ${path}/${made.body.id}`);
  assert.deepEqual(
    shown.body.notes.map(({ body }: { body: string }) => body),
    ['Why?', 'So'],
  );
  const { body: comments } = await api(`GET ${commit}/comments`);
  assert.deepEqual(
    comments.map((one: { note: string; path: string; line: number; line_type: string }) => [
      one.note,
      one.path,
      one.line,
      one.line_type,
    ]),
    [
      ['Why?', 'a.txt', 2, 'new'],
      ['So', 'a.txt', 2, 'new'],
    ],
  );
  for (const wrong of [
    { new_line: 20 },
    { base_sha: sha },
    { head_sha: first },
    { new_path: 'b', old_path: 'b' },
  ])
    assert.equal((await api(`POST ${path}`, { body: 'x', position: { ...position, ...wrong } })).status, 400);
  assert.equal((await api(`POST ${path}`, { body: ' ' })).status, 400);
});

test('shows a standalone comment as a discussion, and makes it a thread with the first reply', async () => {
  const { commit, path } = await place();
  for (const note of ['One', 'Two'])
    assert.equal((await api(`POST ${commit}/comments`, { note })).status, 201);
  const listed = await api(`GET ${path}?per_page=1`);
  assert.deepEqual([listed.body.length, listed.headers.get('x-total')], [1, '2']);
  const [{ id, individual_note, notes }] = listed.body;
  assert.deepEqual([individual_note, notes[0].body, notes[0].type], [true, 'One', null]);
  assert.equal((await api(`POST ${path}/${id}/notes`, { body: 'Answer' })).status, 201);
  const again = await api(`GET ${path}`);
  assert.deepEqual(
    again.body.map((one: { id: string; individual_note: boolean; notes: { body: string }[] }) => [
      one.individual_note,
      one.notes.map(({ body }) => body),
    ]),
    [
      [false, ['One', 'Answer']],
      [true, ['Two']],
    ],
  );
  assert.equal(again.body[0].id, id);
});

test('lets only the author and masters edit and delete a comment', async () => {
  const { path, project } = await place();
  const { body: thread } = await api(`POST ${path}`, { body: 'First' });
  const note = `${path}/${thread.id}/notes/${thread.notes[0].id}`;
  const read = await api(`GET ${note}`, undefined, other);
  assert.deepEqual([read.status, read.body], [200, thread.notes[0]]);
  assert.equal((await api(`PUT ${note}`, { body: 'Mine' }, other)).status, 403);
  assert.equal((await api(`DELETE ${note}`, undefined, other)).status, 403);
  assert.equal((await api(`PUT ${note}`, { body: '' })).status, 400);
  const changed = await api(`PUT ${note}`, { body: 'Second' });
  assert.deepEqual([changed.status, changed.body.body], [200, 'Second']);
  await seedMember(gantry, { user: other.id, project: project.id, access_level: 40 });
  assert.equal((await api(`DELETE ${note}`, undefined, other)).status, 204);
  assert.equal((await api(`GET ${path}/${thread.id}`)).status, 404);
  assert.equal((await api(`PUT ${note}`, { body: 'Again' })).status, 404);
});

test('records changes of a comment on a commit in the change log', async () => {
  const { path, project } = await place();
  const { body: thread } = await api(`POST ${path}`, { body: 'First' });
  const { body: answer } = await api(`POST ${path}/${thread.id}/notes`, { body: 'Second' });
  await api(`PUT ${path}/${thread.id}/notes/${answer.id}`, { body: 'Third' });
  await api(`DELETE ${path}/${thread.id}/notes/${answer.id}`);
  const rows = await gantry.service.platform.store.db
    .selectFrom('events')
    .select(['kind', 'target_id', 'actor_id'])
    .where('project_id', '=', project.id)
    .where('target_type', '=', 'CommitComment')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    rows.map(({ kind, target_id, actor_id }) => [kind, target_id, actor_id]),
    [
      ['commit_comment.created', thread.notes[0].id, author.id],
      ['commit_comment.created', answer.id, author.id],
      ['commit_comment.updated', answer.id, author.id],
      ['commit_comment.deleted', answer.id, author.id],
    ],
  );
});

test('answers the same 404 for a hidden project, another commit and a missing discussion', async () => {
  const [{ path, first, project }, hidden] = [await place(), await place('private')];
  const { body: thread } = await api(`POST ${path}`, { body: 'First' });
  const elsewhere = `/projects/${project.id}/repository/commits/${first}/discussions/${thread.id}`;
  const missing = await api(`GET ${path}/${'0'.repeat(40)}`);
  const reply = await api(`GET ${elsewhere}`);
  assert.deepEqual([reply.status, reply.body], [404, missing.body]);
  const noted = await api(`GET ${elsewhere}/notes/${thread.notes[0].id}`);
  assert.deepEqual([noted.status, noted.body], [404, missing.body]);
  assert.equal((await api(`GET ${hidden.path}`, undefined, other)).status, 404);
  assert.equal((await gantry.api(`POST ${path}`, { as: null, json: { body: 'x' } })).status, 401);
});
