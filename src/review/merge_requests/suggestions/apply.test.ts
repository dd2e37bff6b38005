import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededUser;
let reporter: SeededUser;
let stranger: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'private' });
  [developer, reporter, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
});
after(async () => await gantry.close());

type Suggestion = { id: number; [key: string]: unknown };

const files = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'eins\r\nzwei\r\n' };

const openNew = async (): Promise<Request> => {
  const branch = `suggested-${(number += 1)}`;
  await seedBranch(gantry, project, branch, { files });
  return await openRequest(gantry, project, branch);
};

/** Comments on a line, and returns the suggestions of the comment as the API shows them. */
const suggest = async (
  request: Request,
  [path, line]: [path: string, line: number],
  body: string,
): Promise<Suggestion[]> => {
  const { base_sha, start_sha, head_sha } = request.diff_refs;
  const position = {
    position_type: 'text',
    base_sha,
    start_sha,
    head_sha,
    new_path: path,
    old_path: path,
    new_line: line,
  };
  const { status, body: discussion } = await gantry.api(`POST ${toPath(request)}/discussions`, {
    json: { body, position },
    as: reporter.token,
  });
  assert.equal(status, 201);
  return discussion.notes[0].suggestions;
};

const block = (to: string, range = ''): string => `\`\`\`suggestion${range}\n${to}\n\`\`\``;

const applyOne = async (id: number, json: object = {}, as = developer.token): Promise<Reply> =>
  await gantry.api(`PUT /suggestions/${id}/apply`, { json, as });

const applyBatch = async (ids: unknown, json: object = {}, as = developer.token): Promise<Reply> =>
  await gantry.api(`PUT /suggestions/batch_apply`, { json: { ids, ...json }, as });

const readFile = async ({ source_branch }: Request, path: string): Promise<string> =>
  (await gantry.api(`GET /projects/${project.id}/repository/files/${path}/raw?ref=${source_branch}`)).text;

const headCommit = async ({ source_branch }: Request) =>
  (await gantry.api(`GET /projects/${project.id}/repository/branches/${source_branch}`)).body.commit;

test('a comment lists its suggestions, and one is applied with a message', async () => {
  const request = await openNew();
  const [one, two, ...more] = await suggest(
    request,
    ['a.txt', 2],
    `Either\n${block('ONE\nTWO', ':-1+0')}\nor\n${block('two')}`,
  );
  assert.ok(one && two);
  assert.deepEqual(more, []);
  assert.deepEqual(one, {
    id: one.id,
    from_line: 1,
    to_line: 2,
    appliable: true,
    applied: false,
    from_content: 'one\ntwo\n',
    to_content: 'ONE\nTWO\n',
  });
  assert.deepEqual([two['appliable'], two['from_content']], [false, 'two\n'], 'nothing would change');
  const commit_message = 'Take %{suggestions_count} in %{file_path} by %{username} %{other}';
  const { status, body } = await applyOne(one.id, { commit_message });
  assert.deepEqual([status, body], [200, { ...one, appliable: false, applied: true }]);
  assert.equal(await readFile(request, 'a.txt'), 'ONE\nTWO\nthree\n');
  const { message, parent_ids } = await headCommit(request);
  assert.equal(message.trim(), `Take 1 in a.txt by ${developer.username} %{other}`);
  assert.deepEqual(parent_ids, [request.sha]);
  await settle(gantry);
  const { body: discussions } = await gantry.api(`GET ${toPath(request)}/discussions`);
  const note = discussions[0].notes[0];
  assert.deepEqual([note.resolved, note.suggestions[0].applied], [true, true]);
});

test('several are applied as one commit, from the last line to the first', async () => {
  const request = await openNew();
  const [first] = await suggest(request, ['a.txt', 1], block('1\n1.5'));
  const [third] = await suggest(request, ['a.txt', 3], block('3'));
  const [other] = await suggest(request, ['b.txt', 2], block('two'));
  const ids = [first?.id, third?.id, other?.id];
  const { status, body } = await applyBatch(ids);
  assert.equal(status, 200);
  assert.deepEqual(
    body.map(({ id, applied }: Suggestion) => [id, applied]),
    ids.map((id) => [id, true]),
  );
  assert.equal(await readFile(request, 'a.txt'), '1\n1.5\ntwo\n3\n');
  assert.equal(await readFile(request, 'b.txt'), 'eins\r\ntwo\r\n', 'line ends are kept');
  const { message, parent_ids } = await headCommit(request);
  assert.equal(message.trim(), 'Apply 3 suggestion(s) to 2 file(s)');
  assert.deepEqual(parent_ids, [request.sha]);
});

test('the message of the project counts where none is given', async () => {
  const path = `PUT /projects/${project.id}`;
  await gantry.api(path, { json: { suggestion_commit_message: 'Use %{file_path}' } });
  const request = await openNew();
  const [one] = await suggest(request, ['a.txt', 1], block('1'));
  await applyOne(one?.id ?? 0, { commit_message: ' ' });
  assert.equal((await headCommit(request)).message.trim(), 'Use a.txt');
  await gantry.api(path, { json: { suggestion_commit_message: null } });
});

test('refuses what cannot be applied, and changes nothing', async () => {
  const request = await openNew();
  const [one] = await suggest(request, ['a.txt', 1], block('1'));
  const [range] = await suggest(request, ['a.txt', 2], block('x', ':-1+0'));
  const [same] = await suggest(request, ['a.txt', 3], block('three'));
  assert.ok(one && range && same);
  const refusals: [Reply, number, string][] = [
    [await applyOne(one.id, {}, reporter.token), 403, '403 Forbidden'],
    [await applyOne(one.id, {}, stranger.token), 404, '404 Not found'],
    [await applyOne(one.id + 1), 404, '404 Not found'],
    [await applyOne(2 ** 40), 404, '404 Not found'],
    [await applyBatch([one.id, one.id + 1]), 404, '404 Not found'],
    [
      await applyBatch([one.id, range.id]),
      409,
      'Suggestions are not applicable as their lines cannot overlap.',
    ],
    [await applyOne(same.id), 409, 'The lines are as suggested already.'],
  ];
  for (const [{ status, body }, expected, message] of refusals) {
    assert.deepEqual([status, body], [expected, { message }]);
  }
  assert.equal((await applyBatch([])).status, 404);
  assert.equal((await gantry.api('PUT /suggestions/batch_apply', { json: {} })).status, 400);
  const other = await openNew();
  const [foreign] = await suggest(other, ['a.txt', 1], block('1'));
  const mixed = await applyBatch([one.id, foreign?.id]);
  assert.deepEqual([mixed.status, mixed.body.message], [400, 'Suggestions must all be on the same branch.']);
  assert.equal((await headCommit(request)).id, request.sha);
});

test('a suggestion of changed lines is outdated, and an applied one is applied once', async () => {
  const request = await openNew();
  const [first] = await suggest(request, ['a.txt', 1], block('1'));
  const [third] = await suggest(request, ['a.txt', 3], block('3'));
  assert.ok(first && third);
  assert.equal((await applyOne(first.id)).status, 200);
  assert.equal((await applyOne(first.id)).status, 409);
  assert.equal((await applyOne(third.id)).status, 409, 'the head has moved, and the version not yet');
  await settle(gantry);
  assert.equal((await applyOne(third.id)).status, 200, 'its line is unchanged in the new version');
  await settle(gantry);
  const [again] = await suggest(
    { ...request, ...(await gantry.api(`GET ${toPath(request)}`)).body },
    ['a.txt', 2],
    block('2'),
  );
  assert.ok(again);
  await seedCommit(gantry, project.id, { 'a.txt': 'other\n' }, { branch: request.source_branch });
  await settle(gantry);
  const { status, body } = await applyOne(again.id);
  assert.equal(status, 409);
  assert.match(body.message, /changed in a more recent version/);
});

test('an edited comment has new suggestions', async () => {
  const request = await openNew();
  const [one] = await suggest(request, ['a.txt', 1], block('1'));
  assert.equal((await applyOne(one?.id ?? 0)).status, 200);
  const { body } = await gantry.api(`GET ${toPath(request)}/discussions`);
  const note = `${toPath(request)}/notes/${body[0].notes[0].id}`;
  const edited = await gantry.api(`PUT ${note}`, { json: { body: block('eins') }, as: reporter.token });
  assert.deepEqual(
    edited.body.suggestions.map(({ applied, to_content }: Suggestion) => [applied, to_content]),
    [[false, 'eins\n']],
  );
});
