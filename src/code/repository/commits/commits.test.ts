import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });

const newCode = async (access_level = 40) => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  const path = `/projects/${project.id}/repository/commits`;
  return { project, user, sha, path, code: `/projects/${project.id}/repository` };
};

const commit = async (path: string, user: SeededUser, json: object) =>
  await gantry.api(`POST ${path}`, {
    json: { branch: 'main', commit_message: 'Change', ...json },
    ...as(user),
  });

const readFile = async (code: string, file: string, ref = 'main') => {
  const { status, text } = await gantry.api(`GET ${code}/files/${encodeURIComponent(file)}/raw?ref=${ref}`);
  return status === 200 ? text : status;
};

test('creates a commit of several actions with the supplied author', async () => {
  const { project, user, sha, path, code } = await newCode();
  const made = await commit(path, user, {
    author_name: 'Grace',
    author_email: 'grace@example.com',
    actions: [
      { action: 'create', file_path: 'a/b.txt', content: 'one\n' },
      {
        action: 'create',
        file_path: 'bin',
        content: Buffer.from([0, 255, 1]).toString('base64'),
        encoding: 'base64',
      },
      { action: 'update', file_path: 'README.md', content: 'Hello again\n' },
      { action: 'chmod', file_path: 'README.md', execute_filemode: true },
    ],
  });
  assert.equal(made.status, 201, made.text);
  const { body } = made;
  assert.deepEqual(body.parent_ids, [sha]);
  assert.deepEqual([body.author_name, body.author_email], ['Grace', 'grace@example.com']);
  assert.deepEqual(
    [body.committer_name, body.committer_email],
    [`Name of ${user.username}`, `${user.username}@example.com`],
  );
  assert.deepEqual(body.stats, { additions: 2, deletions: 1, total: 3 });
  assert.deepEqual([body.status, body.last_pipeline, body.project_id], [null, null, project.id]);
  assert.equal(await readFile(code, 'a/b.txt'), 'one\n');
  const moved = await commit(path, user, {
    stats: false,
    actions: [
      { action: 'move', previous_path: 'a/b.txt', file_path: 'c.txt' },
      { action: 'delete', file_path: 'bin' },
    ],
  });
  assert.equal(moved.status, 201, moved.text);
  assert.equal('stats' in moved.body, false);
  assert.deepEqual(
    [await readFile(code, 'a/b.txt'), await readFile(code, 'c.txt'), await readFile(code, 'bin')],
    [404, 'one\n', 404],
  );
  const { body: tree } = await gantry.api(`GET ${code}/tree`);
  assert.deepEqual(
    tree.map(({ name, mode }: { name: string; mode: string }) => [name, mode]),
    [
      ['README.md', '100755'],
      ['c.txt', '100644'],
    ],
  );
});

test('accepts the actions of a commit as a form', async () => {
  const { user, path, code } = await newCode();
  const form = new URLSearchParams([
    ['branch', 'main'],
    ['commit_message', 'By form'],
    ['actions[][action]', 'create'],
    ['actions[][file_path]', 'one'],
    ['actions[][content]', '1'],
    ['actions[][action]', 'create'],
    ['actions[][file_path]', 'two'],
    ['actions[][content]', '2'],
  ]).toString();
  const made = await gantry.api(`POST ${path}`, { form, ...as(user) });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual([await readFile(code, 'one'), await readFile(code, 'two')], ['1', '2']);
});

test('refuses an invalid commit with a message and moves no branch', async () => {
  const { user, sha, path, code } = await newCode();
  const said = async (...actions: object[]) => {
    const { status, body } = await commit(path, user, { actions });
    return [status, body.message];
  };
  const create = (file_path: string) => ({ action: 'create', file_path, content: 'x' });
  assert.deepEqual(await said(create('README.md')), [400, 'A file with this name already exists']);
  assert.deepEqual(await said({ ...create('nothing'), action: 'update' }), [
    400,
    "A file with this name doesn't exist",
  ]);
  assert.deepEqual(await said(create('a/../b')), [400, 'Path cannot include directory traversal']);
  assert.deepEqual(await said(create('.git/config')), [400, "invalid path: '.git/config'"]);
  assert.deepEqual(await said({ action: 'paint', file_path: 'x' }), [
    400,
    { action: ['does not have a valid value'] },
  ]);
  assert.deepEqual(await said({ action: 'create', content: 'x' }), [
    400,
    '400 (Bad request) "file_path" not given',
  ]);
  assert.deepEqual(await said({ action: 'create', file_path: 'x' }), [
    400,
    '400 (Bad request) "content" not given',
  ]);
  const stale = { ...create('README.md'), action: 'update', last_commit_id: '1'.repeat(40) };
  assert.deepEqual(await said(create('kept'), stale), [
    400,
    'The file has changed since you started editing it: README.md',
  ]);
  const { body } = await gantry.api(`GET ${code}/branches/main`);
  assert.equal(body.commit.id, sha);
});

test('starts a branch at the requested ref', async () => {
  const { user, sha, path, code } = await newCode();
  const actions = [{ action: 'create', file_path: 'new', content: 'x' }];
  const nowhere = await commit(path, user, { branch: 'topic', actions });
  assert.deepEqual(
    [nowhere.status, nowhere.body.message],
    [400, 'You can only create or edit files when you are on a branch'],
  );
  const begun = await commit(path, user, { branch: 'topic', start_branch: 'main', actions });
  assert.deepEqual(begun.body.parent_ids, [sha]);
  const again = await commit(path, user, { branch: 'topic', start_branch: 'main', actions });
  assert.deepEqual(
    [again.status, again.body.message],
    [400, "A branch called 'topic' already exists. Switch to that branch in order to make changes"],
  );
  const forced = await commit(path, user, {
    branch: 'topic',
    start_sha: sha,
    force: true,
    actions: [{ action: 'create', file_path: 'other', content: 'x' }],
  });
  assert.deepEqual(forced.body.parent_ids, [sha]);
  assert.deepEqual(
    [await readFile(code, 'new', 'topic'), await readFile(code, 'other', 'topic')],
    [404, 'x'],
  );
});

test('starts a commit at a branch of another readable project', async () => {
  const from = await newCode();
  const other = await newCode();
  const sha = await seedCommit(gantry, from.project.id, { [unique('file')]: 'Only there' });
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const start = { start_project: from.project.id, start_branch: 'main', branch: 'brought', actions };
  const made = await commit(other.path, other.user, start);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.parent_ids, [sha]);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const refused = await commit(other.path, other.user, { ...start, start_project: hidden.id, branch: 'no' });
  assert.deepEqual(refused.body, { message: '404 Project Not Found' });
});

test('makes the branch of the first commit the default branch', async () => {
  const project = await seedProject(gantry);
  const [user, path] = [await seedUser(gantry), `/projects/${project.id}/repository/commits`];
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  assert.deepEqual((await gantry.api(`GET ${path}`)).body, []);
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const made = await commit(path, user, { branch: 'trunk', actions });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.parent_ids, []);
  const { body } = await gantry.api(`GET /projects/${project.id}`);
  assert.deepEqual([body.default_branch, body.empty_repo], ['trunk', false]);
  const { body: branch } = await gantry.api(`GET /projects/${project.id}/repository/branches/trunk`);
  assert.equal(branch.protected, true);
});

test('refuses commits to a protected branch without push access', async () => {
  const { user, path } = await newCode(30);
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const { status, body } = await commit(path, user, { actions });
  assert.deepEqual(
    [status, body.message],
    [403, '403 Forbidden - You are not allowed to push into this branch'],
  );
});

test('stores all concurrent commits to one branch', async () => {
  const { user, path, code } = await newCode();
  const names = Array.from({ length: 8 }, (_one, at) => `file-${at}`);
  const made = await Promise.all(
    names.map(async (file_path) => {
      const actions = [{ action: 'create', file_path, content: 'x' }];
      return (await commit(path, user, { actions })).status;
    }),
  );
  assert.deepEqual(new Set(made), new Set([201]));
  const { headers } = await gantry.api(`GET ${path}`);
  assert.equal(headers.get('x-total'), '9');
  const { body } = await gantry.api(`GET ${code}/tree`);
  assert.equal(body.length, 9);
});

test('lists commits newest first with their exact number', async () => {
  const { project, path, sha } = await newCode();
  const two = await seedCommit(gantry, project.id, { a: '1\n' });
  const three = await seedCommit(gantry, project.id, { b: '1\n2\n' }, { branch: 'topic', from: 'main' });
  const ids = async (query: string) => {
    const { body, headers } = await gantry.api(`GET ${path}?${query}`);
    return [body.map(({ id }: { id: string }) => id), headers.get('x-total')];
  };
  assert.deepEqual(await ids(''), [[two, sha], '2']);
  assert.deepEqual(await ids('ref_name=topic'), [[three, two, sha], '3']);
  assert.deepEqual(await ids('ref_name=topic&per_page=1&page=2'), [[two], '3']);
  assert.deepEqual((await ids('ref_name=topic&page=9007199254740991'))[0], []);
  assert.deepEqual(await ids('all=true&path=b'), [[three], '1']);
  assert.deepEqual(await ids('path=README.md'), [[sha], '1']);
  assert.deepEqual(await ids('author=nobody'), [[], '0']);
  assert.deepEqual(await ids('author=Ada'), [[two, sha], '2']);
  assert.deepEqual(await ids('since=2017-07-15'), [[], '0']);
  assert.deepEqual(await ids('until=2017-07-15'), [[two, sha], '2']);
  const { body } = await gantry.api(`GET ${path}?ref_name=topic&with_stats=true&per_page=1`);
  assert.deepEqual(body[0].stats, { additions: 2, deletions: 0, total: 2 });
  const missing = await gantry.api(`GET ${path}?ref_name=nothing`);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }]);
});

test('lists commits with the trailers of their messages on request', async () => {
  const { user, path } = await newCode();
  const commit_message =
    'Title\n\nText: no trailer\n\nSigned-off-by: Ada\nFixes: one\n two\nSigned-off-by: Bo\n';
  await commit(path, user, {
    commit_message,
    actions: [{ action: 'create', file_path: 'b', content: '' }],
  });
  const [newest, oldest] = (await gantry.api(`GET ${path}?trailers=true`)).body;
  assert.deepEqual(
    [newest.trailers, newest.extended_trailers],
    [
      { 'Signed-off-by': 'Bo', Fixes: 'one two' },
      { 'Signed-off-by': ['Ada', 'Bo'], Fixes: ['one two'] },
    ],
  );
  assert.deepEqual([oldest.trailers, oldest.extended_trailers], [{}, {}]);
  const [plain] = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual(['trailers' in plain, 'extended_trailers' in plain], [false, false]);
});

test('finds a commit by branch, tag, full or abbreviated id', async () => {
  const { code, path, sha } = await newCode();
  await gantry.api(`POST ${code}/tags`, { json: { tag_name: 'v1', ref: 'main', message: 'One' } });
  for (const name of ['main', 'v1', sha, sha.slice(0, 8), 'HEAD']) {
    const { body } = await gantry.api(`GET ${path}/${name}`);
    assert.equal(body.id, sha, name);
  }
  const { status, body } = await gantry.api(`GET ${path}/${'1'.repeat(40)}`);
  assert.deepEqual([status, body], [404, { message: '404 Commit Not Found' }]);
});

test('returns the diff, refs, sequence number and signature of a commit', async () => {
  const { project, path, code } = await newCode();
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\nthere\n', empty: '' });
  const { body } = await gantry.api(`GET ${path}/${sha}/diff`);
  assert.deepEqual(
    body.find((one: { new_path: string }) => one.new_path === 'README.md'),
    {
      old_path: 'README.md',
      new_path: 'README.md',
      a_mode: '100644',
      b_mode: '100644',
      new_file: false,
      renamed_file: false,
      deleted_file: false,
      too_large: false,
      diff: '--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n Hello\n+there\n',
    },
  );
  assert.equal(body.length, 2);
  await gantry.api(`POST ${code}/tags`, { json: { tag_name: 'v1', ref: sha } });
  assert.deepEqual((await gantry.api(`GET ${path}/${sha}/refs`)).body, [
    { type: 'branch', name: 'main' },
    { type: 'tag', name: 'v1' },
  ]);
  assert.deepEqual((await gantry.api(`GET ${path}/${sha}/refs?type=tag`)).body, [
    { type: 'tag', name: 'v1' },
  ]);
  assert.deepEqual((await gantry.api(`GET ${path}/${sha}/sequence`)).body, { count: 2 });
  const signature = await gantry.api(`GET ${path}/${sha}/signature`);
  assert.deepEqual([signature.status, signature.body], [404, { message: '404 Signature Not Found' }]);
});

test('cherry-picks a commit onto another branch and reverts it there', async () => {
  const { project, user, path, code } = await newCode();
  await gantry.api(`POST ${code}/branches`, { json: { branch: 'stable', ref: 'main' } });
  const sha = await seedCommit(gantry, project.id, { fix: 'x\n' });
  const pick = async (word: string, json: object) =>
    await gantry.api(`POST ${path}/${sha}/${word}`, { json, ...as(user) });
  const picked = await pick('cherry_pick', { branch: 'stable' });
  assert.equal(picked.status, 201, picked.text);
  assert.equal(picked.body.message.trimEnd(), `Change fix\n\n(cherry picked from commit ${sha})`);
  assert.deepEqual(
    [picked.body.author_name, picked.body.committer_name],
    ['Ada Lovelace', `Name of ${user.username}`],
  );
  assert.equal(await readFile(code, 'fix', 'stable'), 'x\n');
  const again = await pick('cherry_pick', { branch: 'stable' });
  assert.equal(again.status, 400);
  assert.match(again.body.message, /^Sorry, we cannot cherry-pick this commit automatically\./);
  assert.equal(again.body.error_code, 'empty');
  assert.deepEqual((await pick('cherry_pick', { branch: 'nothing' })).body, {
    message: '404 Branch Not Found',
  });
  const undone = await pick('revert', { branch: 'main' });
  assert.equal(undone.body.message.trimEnd(), `Revert "Change fix"\n\nThis reverts commit ${sha}`);
  assert.equal(await readFile(code, 'fix'), 404);
  const tried = await pick('revert', { branch: 'stable', dry_run: true });
  assert.deepEqual([tried.status, tried.body], [201, { dry_run: 'success' }]);
  assert.equal(await readFile(code, 'fix', 'stable'), 'x\n');
});

test('attaches a comment with an impossible path to the whole commit', async () => {
  const { path, sha } = await newCode();
  for (const place of ['/', '/etc/passwd', '../a', 'a/../../b', '.', 'a//b', '//'.repeat(750)]) {
    const json = { note: 'x', path: place, line: 1 };
    const { status, body, text } = await gantry.api(`POST ${path}/${sha}/comments`, { json });
    assert.deepEqual([status, body.path, body.line], [201, null, null], `${place}: ${text}`);
    const position = {
      position_type: 'text',
      base_sha: '0'.repeat(40),
      start_sha: '0'.repeat(40),
      head_sha: sha,
      new_path: place,
      new_line: 1,
    };
    const line = `POST ${path}/${sha}/discussions`;
    assert.equal((await gantry.api(line, { json: { body: 'x', position } })).status, 400, place);
  }
});

test('places comments on a commit at the line of its diff', async () => {
  const { user, path, sha } = await newCode(20);
  const say = async (json: object) => await gantry.api(`POST ${path}/${sha}/comments`, { json, ...as(user) });
  const plain = await say({ note: 'Nice' });
  assert.equal(plain.status, 201, plain.text);
  assert.deepEqual([plain.body.path, plain.body.line, plain.body.author.id], [null, null, user.id]);
  const placed = await say({ note: 'Here', path: 'README.md', line: 1, line_type: 'new' });
  assert.deepEqual([placed.body.path, placed.body.line, placed.body.line_type], ['README.md', 1, 'new']);
  assert.equal((await say({ note: 'Past', path: 'README.md', line: 2 })).body.path, null);
  assert.deepEqual((await say({ note: ' ' })).body, { message: { note: ["can't be blank"] } });
  const { body, headers } = await gantry.api(`GET ${path}/${sha}/comments?per_page=2`);
  assert.deepEqual(
    body.map(({ note }: { note: string }) => note),
    ['Nice', 'Here'],
  );
  assert.equal(headers.get('x-total'), '3');
});

test('stores commit statuses of external systems', async () => {
  const { project, user, path, sha } = await newCode(30);
  const say = async (json: object) =>
    await gantry.api(`POST /projects/${project.id}/statuses/${sha}`, { json, ...as(user) });
  const pending = await say({
    state: 'pending',
    context: 'ci',
    target_url: 'https://ci.example.com/1',
    coverage: 12.5,
  });
  assert.equal(pending.status, 201, pending.text);
  assert.deepEqual(
    [pending.body.name, pending.body.status, pending.body.ref, pending.body.sha, pending.body.coverage],
    ['ci', 'pending', 'main', sha, 12.5],
  );
  assert.equal(pending.body.author.id, user.id);
  const over = await say({ state: 'success', name: 'ci', description: 'Fine' });
  assert.deepEqual([over.body.id, over.body.status], [pending.body.id, 'success']);
  assert.notEqual(over.body.finished_at, null);
  const renewed = await say({ state: 'running', name: 'ci' });
  assert.notEqual(renewed.body.id, over.body.id);
  const twice = await say({ state: 'running', name: 'ci' });
  assert.deepEqual(
    [twice.status, twice.body.message],
    [400, 'Cannot transition status via :run from :running'],
  );
  assert.equal((await say({ state: 'failed' })).body.name, 'default');
  const list = async (query = '') =>
    (await gantry.api(`GET ${path}/${sha}/statuses${query}`, as(user))).body.map(
      ({ name, status }: { name: string; status: string }) => `${name} ${status}`,
    );
  assert.deepEqual(await list(), ['ci running', 'default failed']);
  assert.deepEqual(await list('?all=true&name=ci'), ['ci success', 'ci running']);
  assert.deepEqual(await list('?ref=other'), []);
  assert.deepEqual((await say({ state: 'success', ref: 'nothing' })).body, {
    message: '404 References for commit Not Found',
  });
  assert.equal((await say({ state: 'odd' })).status, 400);
});
