/** Tests the pages of folders. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: Visitor;
let userId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: userId, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const sha = await seedCommit(gantry, project.id, {
    'README.md': '# Title of it\n',
    'src/main.ts': 'export {};\n',
    'src/<b>&.ts': '',
  });
  return { ...project, sha, tree: `/${project.full_path}/tree` };
};

test('shows the entries of a folder at a branch, a tag, HEAD and a commit id', async () => {
  const { id, sha, tree, full_path } = await newProject();
  await gantry.api(`POST /projects/${id}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  for (const ref of ['main', 'v1', 'HEAD', sha, sha.slice(0, 8)]) {
    const { status, text } = await user.get(`${tree}/${ref}/src`);
    assert.equal(status, 200, ref);
    assert.ok(text.includes(`href="/${full_path}/-/blob/${ref}/src/main.ts"`), text);
    assert.ok(text.includes('&lt;b&gt;&amp;.ts</a>'), text);
    assert.ok(text.includes('Ada Lovelace'), 'author of the last commit');
    assert.ok(text.includes(`<a class="button" href="/${full_path}/tree/${sha}/src" data-key="y"`), ref);
  }
  assert.equal((await user.get(tree)).status, 200);
});

test('the web_url of every branch answers', async () => {
  const { id, full_path } = await newProject();
  const names = ['feature/a', 'what#%', 'ü'];
  for (const branch of names)
    await seedCommit(gantry, id, { [`of ${branch}`]: '' }, { branch, from: 'main' });
  const { body } = await gantry.api(`GET /projects/${id}/repository/branches`);
  for (const { name, web_url } of body) {
    const { pathname } = new URL(web_url);
    const { status, text } = await user.get(pathname);
    assert.equal(status, 200, pathname);
    assert.equal(text.includes('>README.md</a>'), true, name);
  }
  const dashed = await user.get(`/${full_path}/-/tree/main`);
  assert.equal(dashed.location, `/${full_path}/tree/main`);
});

test('the longest ref wins, and a branch wins over a tag', async () => {
  const { id, tree } = await newProject();
  await seedCommit(gantry, id, { 'a/b/c': 'of the branch' }, { branch: 'x', from: 'main' });
  await seedCommit(gantry, id, { 'in-tag': '' }, { branch: 'other', from: 'main' });
  for (const tag_name of ['x/a', 'main']) {
    const json = { tag_name, ref: 'other' };
    assert.equal((await gantry.api(`POST /projects/${id}/repository/tags`, { json })).status, 201);
  }
  assert.ok((await user.get(`${tree}/x/a`)).text.includes('>in-tag</a>'));
  assert.equal((await user.get(`${tree}/x/a/b`)).status, 404);
  assert.equal((await user.get(`${tree}/main`)).text.includes('>in-tag</a>'), false);
  assert.ok((await user.get(`${tree}/refs/tags/main`)).text.includes('>in-tag</a>'));
});

test('marks an executable file', async () => {
  const { id, tree } = await newProject();
  const json = {
    branch: 'main',
    commit_message: 'Add a script',
    actions: [{ action: 'create', file_path: 'run', content: '', execute_filemode: true }],
  };
  assert.equal((await gantry.api(`POST /projects/${id}/repository/commits`, { json })).status, 201);
  assert.match((await user.get(`${tree}/main`)).text, />run<\/a> <span class="badge">executable/);
});

test('a hidden project answers like a missing one, and anonymous visitors read public code', async () => {
  const { tree } = await newProject('private');
  const missing = await user.get('/no-such/project/tree/main');
  const hidden = await user.get(`${tree}/main`);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${tree}/main`)).location ?? '', /^\/users\/sign_in/);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.tree}/main`)).status, 200);
});

test('a guest of a private project may not read its code', async () => {
  const { id, tree } = await newProject('private');
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${tree}/main`)).status, 403);
});

test('a missing ref or path gets 404', async () => {
  const { tree } = await newProject();
  for (const bad of [
    'nope',
    'main/nope',
    'main/README.md/x',
    'main/src%2F..%2Fsrc',
    '%00',
    'main/%ff',
    '-x',
    `main/${'a'.repeat(1500)}`,
  ])
    assert.equal((await user.get(`${tree}/${bad}`)).status, 404, bad);
  const { id } = await seedProject(gantry, { visibility: 'public' });
  const { body } = await gantry.api(`GET /projects/${id}`);
  assert.equal((await user.get(`${new URL(body.web_url).pathname}/tree/main`)).status, 404);
});

test('finds branches and tags in the menu', async () => {
  const { id, tree } = await newProject();
  for (const branch of ['one', 'two']) await seedCommit(gantry, id, { x: '' }, { branch, from: 'main' });
  const json = { tag_name: 'v-one', ref: 'main' };
  assert.equal((await gantry.api(`POST /projects/${id}/repository/tags`, { json })).status, 201);
  const { text } = await user.get(`${tree}/main/src?search_refs=ON`);
  assert.match(text, /<details class="menu left" open>/);
  for (const ref of ['one', 'v-one']) assert.ok(text.includes(`href="${tree}/${ref}/src"`), ref);
  assert.equal(text.includes(`href="${tree}/two/src"`), false);
});

test('a large folder is shown in pages', async () => {
  const { id, tree } = await newProject();
  const files = Object.fromEntries(Array.from({ length: 501 }, (_file, at) => [`many/f${1000 + at}`, '']));
  await seedCommit(gantry, id, files);
  const { text } = await user.get(`${tree}/main/many`);
  assert.ok(text.includes('Page 1 of 2') && text.includes('>f1499</a>') && !text.includes('>f1500</a>'));
  assert.ok((await user.get(`${tree}/main/many?page=2`)).text.includes('>f1500</a>'));
  assert.match(text, /href="[^"]+\/tree\/main\/many\?commits=1">Show last commits/);
  assert.equal((await user.get(`${tree}/main/many?commits=1`)).text.includes('Show last commits'), false);
});

test('shows the last commit of each entry, and the README', async () => {
  const { id, tree, full_path } = await newProject();
  await seedCommit(gantry, id, { 'src/main.ts': 'changed\n' }, { message: 'Change <main>' });
  await seedCommit(gantry, id, { 'src/README.txt': 'plain <text>' }, { message: 'Describe it' });
  // Waits for all, so that the test does not depend on the speed of the machine.
  const root = (await user.get(`${tree}/main?commits=1`)).text;
  assert.match(root, />src<\/a><\/td><td>[^\n]*Describe it/);
  assert.match(root, /<h1[^>]*>[^\n]*Title of it/);
  assert.ok(root.includes(`href="/${full_path}/-/blob/main/README.md"`));
  const below = (await user.get(`${tree}/main/src?commits=1`)).text;
  assert.match(below, />main\.ts<\/a><\/td><td>[^\n]*Change &lt;main&gt;/);
  assert.ok(below.includes('plain &lt;text&gt;'));
});
