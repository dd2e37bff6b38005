import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Files, seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { hasUnresolvedDiscussions } from '../../planning/discussions/queries.ts';

let gantry: TestService;
let developer: SeededUser;
let other: SeededUser;
let project: SeededProject;
let root: string;

const lines = (count: number, word = 'line'): string[] =>
  Array.from({ length: count }, (_one, at) => `${word} ${at + 1}`);
const textOf = (all: string[]): string => all.map((line) => `${line}\n`).join('');

const original = lines(40);
/** Line 3 is new; line 21 of the old file is removed. */
const changed = [...original.slice(0, 2), 'added', ...original.slice(2, 20), ...original.slice(21)];

before(async () => {
  gantry = await startTestService();
  [developer, other] = [await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  root = await seedCommit(gantry, project.id, { 'a.txt': textOf(original), 'gone.txt': textOf(lines(5)) });
});
after(async () => await gantry.close());

type Refs = { base_sha: string; start_sha: string; head_sha: string };
type Made = { id: number; iid: number; branch: string; refs: Refs; path: string };

const mergeRequest = async (files: Files = { 'a.txt': textOf(changed) }): Promise<Made> => {
  const branch = unique('branch');
  await seedCommit(gantry, project.id, files, { branch, from: 'main' });
  const made = await gantry.api(`POST /projects/${project.id}/merge_requests`, {
    as: developer.token,
    json: { source_branch: branch, target_branch: 'main', title: 'Change a' },
  });
  assert.equal(made.status, 201, made.text);
  const { id, iid, diff_refs } = made.body;
  const path = `/projects/${project.id}/merge_requests/${iid}`;
  return { id, iid, branch, refs: diff_refs, path };
};

const begin = async ({ path }: Made, json: object, as = other.token): Promise<Reply> =>
  await gantry.api(`POST ${path}/discussions`, { as, json });

const at = ({ refs }: Made, place: object) => ({
  body: 'Why this?',
  position: { ...refs, position_type: 'text', old_path: 'a.txt', new_path: 'a.txt', ...place },
});

const positionOf = (reply: Reply) => reply.body.notes[0].position;

test('places a comment on a line of the diff', async () => {
  const on = await mergeRequest();
  const made = await begin(on, at(on, { new_line: 3, start_sha: '0'.repeat(40) }));
  assert.equal(made.status, 201, made.text);
  const [note] = made.body.notes;
  assert.deepEqual(
    [note.type, note.resolvable, note.resolved, note.noteable_type, note.noteable_iid],
    ['DiffNote', true, false, 'MergeRequest', on.iid],
  );
  assert.deepEqual(note.position, {
    ...on.refs,
    old_path: 'a.txt',
    new_path: 'a.txt',
    position_type: 'text',
    old_line: null,
    new_line: 3,
    line_range: null,
  });
  const listed = await gantry.api(`GET ${on.path}/notes/${note.id}`);
  assert.deepEqual([listed.body.type, listed.body.position], ['DiffNote', note.position]);
  const answer = await gantry.api(`POST ${on.path}/discussions/${made.body.id}/notes`, {
    json: { body: 'So' },
  });
  assert.deepEqual([answer.body.type, answer.body.position], ['DiffNote', note.position]);
});

test('addresses a removed line by its old number, an unchanged one by either number', async () => {
  const on = await mergeRequest();
  assert.deepEqual(positionOf(await begin(on, at(on, { old_line: 21 }))).new_line, null);
  for (const place of [{ old_line: 2, new_line: 2 }, { new_line: 2 }, { old_line: 2 }]) {
    const { old_line, new_line } = positionOf(await begin(on, at(on, place)));
    assert.deepEqual([old_line, new_line], [2, 2], JSON.stringify(place));
  }
});

test('refuses a line outside the diff of the version', async () => {
  const on = await mergeRequest();
  const elsewhere = await mergeRequest({ 'a.txt': textOf([...changed, 'more']) });
  const zero = '0'.repeat(40);
  const wrong = [
    { new_line: 12 },
    { new_line: 4000 },
    { old_line: 3, new_line: 3 },
    { new_line: 3, new_path: 'no.txt', old_path: 'no.txt' },
    { new_line: 3, head_sha: zero },
    { new_line: 3, base_sha: on.refs.head_sha },
    { new_line: 3, ...elsewhere.refs },
    {},
  ];
  for (const place of wrong) {
    const refused = await begin(on, at(on, place));
    assert.deepEqual(
      [refused.status, refused.body],
      [
        400,
        {
          message: `400 (Bad request) "Note {:line_code=>["can't be blank", "must be a valid line code"]}" not given`,
        },
      ],
      JSON.stringify(place),
    );
  }
});

test('validates each part of a position', async () => {
  const on = await mergeRequest();
  const said = async (position: unknown) => {
    const { status, body } = await begin(on, { body: 'x', position });
    return [status, body.message];
  };
  const whole = at(on, { new_line: 3 }).position;
  assert.deepEqual(await said('x'), [400, { position: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, head_sha: undefined }), [
    400,
    '400 (Bad request) "position[head_sha]" not given',
  ]);
  assert.deepEqual(await said({ ...whole, head_sha: 'main' }), [400, { head_sha: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, new_line: 'x' }), [400, { new_line: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, new_line: 0 }), [400, { new_line: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, new_path: 'a\0' }), [400, { new_path: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, new_path: ['a'] }), [400, { new_path: ['is invalid'] }]);
  assert.deepEqual(await said({ ...whole, new_path: '', old_path: null }), [
    400,
    '400 (Bad request) "position[new_path]" not given',
  ]);
  assert.deepEqual(await said({ ...whole, position_type: 'sound' }), [
    400,
    { position_type: ['does not have a valid value'] },
  ]);
  assert.deepEqual(await said({ ...whole, position_type: 'image' }), [
    400,
    '400 (Bad request) "position[width]" not given',
  ]);
  assert.deepEqual(await said({ ...whole, line_range: 'x' }), [400, { line_range: ['is invalid'] }]);
});

test('accepts a position as JSON, form or multipart form', async () => {
  const on = await mergeRequest();
  const parts: [string, string][] = [
    ['body', 'Why?'],
    ...Object.entries({
      ...on.refs,
      position_type: 'text',
      new_path: 'a.txt',
      old_path: 'a.txt',
      new_line: '3',
      old_line: '',
    }).map(([name, value]): [string, string] => [`position[${name}]`, value]),
    ['position[line_range][start][line_code]', 'x_3_3'],
    ['position[line_range][start][type]', 'new'],
    ['position[line_range][start][new_line]', '2'],
    ['position[line_range][end][new_line]', '3'],
  ];
  const digest = hash('sha1', 'a.txt', 'hex');
  const expected = {
    start: { line_code: `${digest}_2_2`, type: null, old_line: 2, new_line: 2 },
    end: { line_code: `${digest}_3_3`, type: 'new', old_line: null, new_line: 3 },
  };
  const form = await gantry.api(`POST ${on.path}/discussions`, {
    form: new URLSearchParams(parts).toString(),
  });
  assert.equal(form.status, 201, form.text);
  assert.deepEqual([positionOf(form).new_line, positionOf(form).line_range], [3, expected]);
  const multipart = new FormData();
  for (const [name, value] of parts) multipart.set(name, value);
  const sent = await fetch(`${gantry.url}/api/v4${on.path}/discussions`, {
    method: 'POST',
    headers: { 'private-token': developer.token },
    body: multipart,
  });
  const { notes } = (await sent.json()) as Reply['body'];
  assert.deepEqual([sent.status, notes[0].position.line_range], [201, expected]);
});

test('completes a line range from the diff, by numbers or codes, and refuses foreign lines', async () => {
  const on = await mergeRequest();
  const digest = hash('sha1', 'a.txt', 'hex');
  const ends = {
    start: { line_code: `${digest}_2_2` },
    end: { line_code: `${digest}_3_3`, type: 'new' },
  };
  const made = await begin(on, at(on, { new_line: 3, line_range: ends }));
  assert.deepEqual(positionOf(made).line_range, {
    start: { line_code: `${digest}_2_2`, type: null, old_line: 2, new_line: 2 },
    end: { line_code: `${digest}_3_3`, type: 'new', old_line: null, new_line: 3 },
  });
  for (const start of [
    {},
    { new_line: 4000 },
    { line_code: 'x' },
    { line_code: `${digest}_3_3`, type: 'old' },
  ]) {
    const refused = await begin(on, at(on, { new_line: 3, line_range: { ...ends, start } }));
    assert.equal(refused.status, start.type === 'old' ? 201 : 400, refused.text);
  }
});

test('places a comment on a point of an image and moves it while the image is unchanged', async () => {
  const [one, two] = ['\u0000one', '\u0000two'];
  const on = await mergeRequest({ 'a.png': one, 'b.png': one });
  const place = { position_type: 'image', width: 100, height: '80', x: 12.5, y: 80 };
  const image = (path: string, more = {}) => at(on, { ...place, old_path: path, new_path: path, ...more });
  const whole = { ...on.refs, old_path: 'a.png', new_path: 'a.png' };
  const point = { position_type: 'image', width: 100, height: 80, x: 12, y: 80 };
  const [a, b] = [await begin(on, image('a.png')), await begin(on, image('b.png'))];
  assert.deepEqual(positionOf(a), { ...whole, ...point });
  const file = await begin(on, image('b.png', { position_type: 'file' }));
  assert.equal(positionOf(file).position_type, 'file');
  for (const wrong of [
    { x: 101 },
    { y: -1 },
    { width: 0 },
    { height: 'x' },
    { x: null },
    { new_path: 'c.png', old_path: 'c.png' },
  ])
    assert.equal((await begin(on, image('a.png', wrong))).status, 400, JSON.stringify(wrong));
  const head = await seedCommit(gantry, project.id, { 'b.png': two }, { branch: on.branch });
  const shown = async (made: Reply) =>
    (await gantry.api(`GET ${on.path}/discussions/${made.body.id}`)).body.notes[0].position;
  while ((await shown(a)).head_sha !== head) await wait(20);
  assert.deepEqual(await shown(a), { ...whole, ...point, head_sha: head });
  assert.equal((await shown(b)).head_sha, on.refs.head_sha, 'it was said of another picture');
});

test('creates a thread outside the diff without a position; refuses positions on issues', async () => {
  const on = await mergeRequest();
  const made = await begin(on, { body: 'In general' });
  assert.deepEqual(
    [made.body.notes[0].type, 'position' in made.body.notes[0], made.body.notes[0].resolvable],
    ['DiscussionNote', false, true],
  );
});

test('reports whether a merge request has unresolved threads', async () => {
  const on = await mergeRequest();
  const { db } = gantry.service.platform.store;
  assert.equal(await hasUnresolvedDiscussions(db, on.id), false);
  const { id } = (await begin(on, at(on, { new_line: 3 }))).body;
  await gantry.api(`POST ${on.path}/notes`, { json: { body: 'A plain comment is nothing to resolve' } });
  assert.equal(await hasUnresolvedDiscussions(db, on.id), true);
  const put = async (as: string) =>
    await gantry.api(`PUT ${on.path}/discussions/${id}`, { as, json: { resolved: true } });
  assert.equal((await put(other.token)).status, 403);
  assert.equal((await put(developer.token)).status, 200);
  assert.equal(await hasUnresolvedDiscussions(db, on.id), false);
  const notes = await gantry.api(`GET ${on.path}/notes?activity_filter=only_activity`);
  assert.deepEqual(notes.body[0].body, 'resolved all threads');
});

/** Waits until the version with this head exists and its comments have moved. */
const followed = async (
  on: Made,
  head: string,
  noteId: number,
  isDone: (position: Reply['body']) => boolean,
) => {
  for (let tried = 0; ; tried += 1) {
    const { body } = await gantry.api(`GET ${on.path}/versions`);
    const { body: note } = await gantry.api(`GET ${on.path}/notes/${noteId}`);
    const isThere = body[0].head_commit_sha === head;
    if (isThere && isDone(note.position)) return note.position;
    if (tried === 200) throw new Error(`not followed: ${isThere} ${JSON.stringify(note.position)}`);
    await wait(50);
  }
};

test('moves a comment with its line into new versions, across a force push', async () => {
  const on = await mergeRequest();
  const { id } = (await begin(on, at(on, { new_line: 3 }))).body.notes[0];
  const more = ['first', 'second', ...changed];
  const head = await seedCommit(gantry, project.id, { 'a.txt': textOf(more) }, { branch: on.branch });
  const now = await followed(on, head, id, ({ head_sha }) => head_sha === head);
  assert.deepEqual([now.old_line, now.new_line, now.base_sha], [null, 5, on.refs.base_sha]);
  const forced = await seedCommit(
    gantry,
    project.id,
    { 'a.txt': textOf(['only', ...changed.slice(0, 30)]) },
    { branch: on.branch, onto: root },
  );
  const then = await followed(on, forced, id, ({ head_sha }) => head_sha === forced);
  assert.deepEqual([then.old_line, then.new_line], [null, 4]);
});

test('keeps a comment on the old version while its line is missing, then moves it again', async () => {
  const on = await mergeRequest();
  const made = await begin(on, at(on, { new_line: 3 }));
  const { id } = made.body.notes[0];
  const [stays] = (await begin(on, at(on, { new_line: 2 }))).body.notes;
  const without = changed.filter((line) => line !== 'added').concat('end');
  const head = await seedCommit(gantry, project.id, { 'a.txt': textOf(without) }, { branch: on.branch });
  // All comments move in one transaction.
  await followed(on, head, stays.id, ({ head_sha }) => head_sha === head);
  assert.deepEqual((await gantry.api(`GET ${on.path}/notes/${id}`)).body.position, positionOf(made));
  const again = await seedCommit(
    gantry,
    project.id,
    { 'a.txt': textOf(['top', ...changed]) },
    { branch: on.branch, onto: root },
  );
  const back = await followed(on, again, id, ({ head_sha }) => head_sha === again);
  assert.deepEqual([back.old_line, back.new_line], [null, 4]);
});

test('moves a comment with a renamed file', async () => {
  const on = await mergeRequest();
  const { id } = (await begin(on, at(on, { new_line: 3 }))).body.notes[0];
  const head = await seedCommit(
    gantry,
    project.id,
    { 'a.txt': null, 'b.txt': textOf(['top', ...changed]) },
    { branch: on.branch },
  );
  const now = await followed(on, head, id, ({ head_sha }) => head_sha === head);
  assert.deepEqual([now.old_path, now.new_path, now.new_line], ['a.txt', 'b.txt', 4]);
});

const create = async (json: object, as = developer.token): Promise<Reply> =>
  await gantry.api(`POST /projects/${project.id}/issues`, { as, json: { title: 'Follow up', ...json } });

test('creates an issue from the unresolved threads of a merge request and resolves them', async () => {
  const on = await mergeRequest();
  const first = (await begin(on, at(on, { new_line: 3 }))).body;
  const second = (await begin(on, { body: 'Two\nlines' })).body;
  await gantry.api(`POST ${on.path}/discussions/${second.id}/notes`, { json: { body: 'Yes' } });
  const url = `${gantry.url}/${project.full_path}/merge_requests/${on.iid}`;
  const made = await create({ merge_request_to_resolve_discussions_of: on.iid });
  assert.equal(made.status, 201, made.text);
  assert.equal(
    made.body.description,
    [
      `The following discussions from !${on.iid} should be addressed:`,
      `- [ ] @${other.username} started a [discussion](${url}#note_${first.notes[0].id}): `,
      '    > Why this?',
      `- [ ] @${other.username} started a [discussion](${url}#note_${second.notes[0].id}):  (+1 comment)`,
      '    > Two\n    > lines',
    ].join('\n\n'),
  );
  const { body } = await gantry.api(`GET ${on.path}/discussions`);
  const [one] = body;
  assert.deepEqual(
    one.notes.map((note: { body: string; resolved?: boolean }) => [note.body, note.resolved]),
    [
      ['Why this?', true],
      [`created #${made.body.iid} to continue this discussion`, undefined],
    ],
  );
  assert.equal(await hasUnresolvedDiscussions(gantry.service.platform.store.db, on.id), false);
  const none = await create({ merge_request_to_resolve_discussions_of: on.iid });
  assert.equal(
    none.body.description,
    `There are no unresolved discussions. Review the conversation in !${on.iid}`,
  );
});

test('names a single thread, keeps a supplied description, ignores an unknown request', async () => {
  const on = await mergeRequest();
  const [first, second] = [(await begin(on, { body: 'One' })).body, (await begin(on, { body: 'Two' })).body];
  const made = await create({
    description: 'Mine',
    merge_request_to_resolve_discussions_of: on.iid,
    discussion_to_resolve: second.id,
  });
  assert.equal(made.body.description, 'Mine');
  const resolved = async (id: string) =>
    (await gantry.api(`GET ${on.path}/discussions/${id}`)).body.notes[0].resolved;
  assert.deepEqual([await resolved(first.id), await resolved(second.id)], [false, true]);
  const unknown = await create({ merge_request_to_resolve_discussions_of: 99_999 });
  assert.deepEqual([unknown.status, unknown.body.description], [201, null]);
  await create({ merge_request_to_resolve_discussions_of: on.iid }, other.token);
  assert.equal(await resolved(first.id), false);
});
