/** Tests the forms that create, edit, move and delete files. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let username: string;
let reporter: Visitor;
let stranger: Visitor;
let root: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  root = `/${project.full_path}/-`;
  const seeded = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  [developer, username] = [seeded.visitor, seeded.username];
  reporter = (await seedVisitor(gantry, { project: project.id, access_level: 20 })).visitor;
  stranger = (await seedVisitor(gantry)).visitor;
  const files = {
    'a.txt': 'one\n',
    'dos.txt': 'a\r\nb\r\n',
    bin: 'x\0y',
    'gone.txt': 'x',
    'old.txt': 'same',
  };
  await seedCommit(gantry, project.id, files);
  await settle(gantry);
});
after(async () => await gantry.close());

const fileOn = async (branch: string, path: string): Promise<string | null> => {
  const file = encodeURIComponent(path);
  const { status, text } = await gantry.api(
    `GET /projects/${project.id}/repository/files/${file}/raw?ref=${branch}`,
  );
  return status === 200 ? text : null;
};

const lastOf = (text: string): string => /name="last_commit_id" value="(\w+)"/.exec(text)?.[1] ?? '';

test('creates a file in a folder', async () => {
  const { text } = await developer.get(`${root}/new/main/docs`);
  assert.match(text, /name="file_path"[^>]+value="docs\/"/);
  const form = { file_path: 'docs/<a>.md', content: '# A\r\nb\r\n', branch: 'main', commit_message: 'Add' };
  const made = await developer.post(`${root}/new/main/docs`, form);
  assert.match(made.location ?? '', /\/blob\/main\/docs\/%3Ca%3E\.md$/);
  assert.equal(await fileOn('main', 'docs/<a>.md'), '# A\nb\n');
  const again = await developer.post(`${root}/new/main/docs`, form);
  assert.deepEqual([again.status, /A file with this name already exists/.test(again.text)], [422, true]);
  assert.match(again.text, /# A/);
  const bad = await developer.post(`${root}/new/main`, { ...form, file_path: '../x' });
  assert.deepEqual([bad.status, /Path cannot include directory traversal/.test(bad.text)], [422, true]);
});

test('edits a file and keeps its line ends', async () => {
  const { text } = await developer.get(`${root}/edit/main/dos.txt`);
  assert.match(text, /name="line_ends" value="crlf"/);
  const form = {
    file_path: 'dos.txt',
    content: 'a\r\nc\r\n',
    line_ends: 'crlf',
    branch: 'main',
    commit_message: 'Edit',
  };
  const saved = await developer.post(`${root}/edit/main/dos.txt`, { ...form, last_commit_id: lastOf(text) });
  assert.equal(saved.status, 303);
  assert.equal(await fileOn('main', 'dos.txt'), 'a\r\nc\r\n');
});

test('does not overwrite a newer version unless told to', async () => {
  const last = lastOf((await developer.get(`${root}/edit/main/a.txt`)).text);
  await seedCommit(gantry, project.id, { 'a.txt': 'two\n' });
  await settle(gantry);
  const form = { file_path: 'a.txt', content: 'mine <b>', branch: 'main', commit_message: 'Edit' };
  const refused = await developer.post(`${root}/edit/main/a.txt`, { ...form, last_commit_id: last });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /Somebody changed the file[\s\S]+mine &lt;b&gt;/);
  assert.equal(await fileOn('main', 'a.txt'), 'two\n');
  const still = await developer.post(`${root}/edit/main/a.txt`, {
    ...form,
    last_commit_id: lastOf(refused.text),
  });
  assert.equal(still.status, 409);
  const overwrite = /name="overwrite" type="checkbox" value="(\w+)"/.exec(refused.text)?.[1] ?? '';
  const saved = await developer.post(`${root}/edit/main/a.txt`, { ...form, last_commit_id: last, overwrite });
  assert.equal(saved.status, 303);
  assert.equal(await fileOn('main', 'a.txt'), 'mine <b>');
});

test('moves a file, and commits to a new branch', async () => {
  const { text } = await developer.get(`${root}/edit/main/old.txt`);
  const form = { file_path: 'sub/new.txt', content: 'same', branch: 'topic', commit_message: 'Move' };
  const moved = await developer.post(`${root}/edit/main/old.txt`, { ...form, last_commit_id: lastOf(text) });
  assert.match(moved.location ?? '', /\/blob\/topic\/sub\/new\.txt$/);
  assert.deepEqual(
    [await fileOn('topic', 'sub/new.txt'), await fileOn('topic', 'old.txt'), await fileOn('main', 'old.txt')],
    ['same', null, 'same'],
  );
  const taken = await developer.post(`${root}/edit/main/old.txt`, { ...form, content: 'b' });
  assert.deepEqual([taken.status, /id="branch_error">A branch called/.test(taken.text)], [422, true]);
});

test('deletes a file, but not one that changed meanwhile', async () => {
  const last = lastOf((await developer.get(`${root}/delete/main/gone.txt`)).text);
  await seedCommit(gantry, project.id, { 'gone.txt': 'newer' });
  await settle(gantry);
  const form = { branch: 'main', commit_message: 'Delete' };
  const path = `${root}/delete/main/gone.txt`;
  const refused = await developer.post(path, { ...form, last_commit_id: last });
  assert.deepEqual([refused.status, await fileOn('main', 'gone.txt')], [409, 'newer']);
  const done = await developer.post(path, { ...form, last_commit_id: lastOf(refused.text) });
  assert.deepEqual([done.status, await fileOn('main', 'gone.txt')], [303, null]);
});

test('proposes a new branch where the user may not push', async () => {
  await seedCommit(gantry, project.id, { x: 'y' }, { branch: 'stable', from: 'main' });
  await settle(gantry);
  await gantry.api(`POST /projects/${project.id}/protected_branches`, {
    json: { name: 'stable', push_access_level: 0 },
  });
  const { text } = await developer.get(`${root}/edit/stable/x`);
  assert.match(text, new RegExp(`name="branch"[^>]+value="${username}-patch-1"`));
  const form = { file_path: 'x', content: 'z', branch: 'stable', commit_message: 'Edit' };
  const refused = await developer.post(`${root}/edit/stable/x`, form);
  assert.deepEqual([refused.status, /not allowed to push into this branch/.test(refused.text)], [422, true]);
  assert.match((await developer.get(`${root}/edit/main/bin`)).text, /it can be moved, but not edited/);
});

test('creates the first file of an empty repository', async () => {
  const { id, full_path } = await seedProject(gantry);
  const { visitor } = await seedVisitor(gantry, { project: id, access_level: 40 });
  const path = `/${full_path}/-/new/main`;
  assert.equal((await visitor.get(path)).status, 200);
  const form = { file_path: 'README.md', content: 'Hi', branch: 'main', commit_message: 'First' };
  assert.equal((await visitor.post(path, form)).status, 303);
  assert.equal((await gantry.api(`GET /projects/${id}/repository/files/README.md/raw?ref=main`)).text, 'Hi');
});

test('refuses users who may not push, and hides private projects', async () => {
  for (const page of ['new/main', 'edit/main/a.txt', 'delete/main/a.txt']) {
    const seen = await reporter.get(`${root}/${page}`);
    assert.deepEqual([seen.status, /You may not push to this project/.test(seen.text)], [403, true]);
    assert.equal((await reporter.post(`${root}/${page}`, { branch: 'main' })).status, 403);
    assert.equal((await stranger.get(`${root}/${page}`)).status, 404);
    assert.equal((await stranger.post(`${root}/${page}`, { branch: 'main' })).status, 404);
    assert.match((await openVisitor(gantry).get(`${root}/${page}`)).location ?? '', /sign_in/);
  }
  assert.equal((await developer.get(`${root}/edit/main/none`)).status, 404);
  assert.equal((await developer.get(`${root}/edit/none/a.txt`)).status, 404);
});

test('previews changes without committing them', async () => {
  const before = 'one\ntwo\nthree\n';
  await seedCommit(gantry, project.id, { 'p.txt': before, 'p.md': '# Old\n', 'p.crlf': 'a\r\nb\r\n' });
  await settle(gantry);
  const { text } = await developer.get(`${root}/edit/main/p.txt`);
  assert.match(text, /<button name="preview" value="1" formnovalidate[^>]*>Preview changes<\/button>/);
  const form = {
    file_path: 'p.txt',
    branch: 'topic-of-preview',
    commit_message: 'My <message>',
    preview: '1',
  };
  const preview = async (path: string, content: string, more: object = {}) =>
    await developer.post(`${root}/edit/main/${path}`, {
      ...form,
      file_path: path,
      content,
      last_commit_id: lastOf(text),
      ...more,
    });
  const seen = await preview('p.txt', 'one\r\n<b>\r\nthree\r\n');
  assert.equal(seen.status, 200);
  assert.match(seen.text, /<tr class="del"[\s\S]+two[\s\S]+<tr class="add"[\s\S]+&lt;b&gt;/);
  assert.ok(seen.text.includes('aria-label="1 added"') && seen.text.includes('aria-label="1 removed"'));
  // The form keeps everything that was typed.
  assert.match(seen.text, /<textarea[^>]+name="content"[^>]*>\none\r?\n&lt;b&gt;/);
  assert.ok(seen.text.includes('value="topic-of-preview"') && seen.text.includes('My &lt;message&gt;'));
  assert.equal(lastOf(seen.text), lastOf(text));
  assert.equal(await fileOn('main', 'p.txt'), before);
  assert.match((await preview('p.txt', before)).text, /The text has no changes/);
  assert.match(
    (await preview('p.crlf', 'a\r\nb\r\n', { line_ends: 'crlf' })).text,
    /The text has no changes/,
  );
  const gone = await preview('gone.txt', 'kept\r\n', { overwrite: '1'.repeat(40) });
  assert.match(gone.text, /<textarea[^>]+name="content"[^>]*>\nkept/);
  assert.match(gone.text, /name="overwrite"/);
  await seedCommit(gantry, project.id, { 'many.txt': 'a\n'.repeat(2_000) });
  await settle(gantry);
  const cut = await preview('many.txt', 'b\r\n'.repeat(3_000));
  assert.match(cut.text, /aria-label="3,?000 added"/);
  assert.match(cut.text, /aria-label="2,?000 removed"/);
  assert.match(cut.text, /The first 3000 lines are shown/);
  const rendered = await preview('p.md', '# New *one*\n<script>alert(1)</script>\n');
  assert.match(rendered.text, /<h1 id="user-content-new-one"[^>]*>New <em>one<\/em>/);
  assert.doesNotMatch(rendered.text, /<script>alert/);
  assert.equal((await reporter.post(`${root}/edit/main/p.txt`, { ...form, content: 'x' })).status, 403);
  const fresh = await developer.post(`${root}/new/main`, { ...form, file_path: 'n.md', content: '# T\n' });
  assert.match(fresh.text, /<tr class="add"[\s\S]+<h1 id="user-content-t"/);
  assert.equal(await fileOn('main', 'n.md'), null);
});

test('creates a file again that was deleted while it was edited', async () => {
  await seedCommit(gantry, project.id, { 'd.txt': 'old\n' });
  await settle(gantry);
  const last = lastOf((await developer.get(`${root}/edit/main/d.txt`)).text);
  const form = { file_path: 'd.txt', branch: 'main', commit_message: 'Edit d', content: 'typed <b>\r\n' };
  const actions = [{ action: 'delete', file_path: 'd.txt' }];
  const json = { branch: 'main', commit_message: 'Delete d', actions };
  assert.equal((await gantry.api(`POST /projects/${project.id}/repository/commits`, { json })).status, 201);
  await settle(gantry);
  const refused = await developer.post(`${root}/edit/main/d.txt`, { ...form, last_commit_id: last });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /role="alert">The file was deleted after you opened it/);
  assert.match(refused.text, /<textarea[^>]+name="content"[^>]*>\ntyped &lt;b&gt;/);
  assert.equal(await fileOn('main', 'd.txt'), null);
  const again = { ...form, last_commit_id: lastOf(refused.text) };
  const seen = await developer.post(`${root}/edit/main/d.txt`, { ...again, preview: '1' });
  assert.deepEqual([seen.status, lastOf(seen.text)], [200, again.last_commit_id]);
  assert.equal((await developer.post(`${root}/edit/main/d.txt`, again)).status, 303);
  assert.equal(await fileOn('main', 'd.txt'), 'typed <b>\n');
});

test('inserts a template into a new file and keeps what was typed', async () => {
  const { text } = await developer.get(`${root}/new/main`);
  const [first] =
    /<button[^>]*>(?=[^]*name="insert_template")/.exec(
      text.slice(text.indexOf('authenticity_token', text.indexOf('<main'))),
    ) ?? [];
  assert.ok(first !== undefined);
  assert.doesNotMatch(first, /\bname=|formaction=/, 'Enter in a field commits');
  for (const [label, value] of [
    ['LICENSE', 'licenses/mit'],
    ['.gitignore', 'gitignores/Node'],
    ['.gitlab-ci.yml', 'gitlab_ci_ymls/'],
  ] as const)
    assert.match(text, new RegExp(`<optgroup label="${label}">(?:(?!</optgroup>)[^])*value="${value}`));
  const insert = async (template: string, form: object = {}) => {
    const sent = {
      file_path: '',
      content: '',
      branch: 'b-<x>',
      commit_message: 'm-<y>',
      insert_template: '1',
    };
    return await developer.post(`${root}/new/main`, { ...sent, ...form, template });
  };
  const pathIn = (page: string): string => /name="file_path"[^>]+value="([^"]*)"/.exec(page)?.[1] ?? '';
  const license = await insert('licenses/mit');
  assert.equal(license.status, 200);
  assert.equal(pathIn(license.text), 'LICENSE');
  assert.match(license.text, new RegExp(`Copyright \\(c\\) ${new Date().getUTCFullYear()} (?!\\[)`));
  assert.ok(license.text.includes('value="b-&lt;x&gt;"') && license.text.includes('m-&lt;y&gt;'));
  const ignore = await insert('gitignores/Node', { file_path: 'sub/', content: '# mine <z>' });
  assert.equal(pathIn(ignore.text), 'sub/.gitignore');
  assert.match(ignore.text, /# mine &lt;z&gt;\n\n[\s\S]+node_modules/);
  assert.match(ignore.text, /value="gitignores\/Node" selected/);
  assert.equal(pathIn((await insert('gitignores/Node', { file_path: 'own' })).text), 'own');
  const ci = await insert(/value="(gitlab_ci_ymls\/[^"]+)"/.exec(text)?.[1] ?? '');
  assert.equal(pathIn(ci.text), '.gitlab-ci.yml');
  assert.match(ci.text, /formaction="[^"]+\/ci\/lint\?ref=main"[^>]*>Validate/);
  for (const unknown of ['licenses/../x', 'gitignores/%2e', 'other/Node', '', 'gitignores'])
    assert.equal(pathIn((await insert(unknown, { file_path: 'a', content: 'kept' })).text), 'a', unknown);
  assert.equal(await fileOn('main', 'LICENSE'), null);
});
