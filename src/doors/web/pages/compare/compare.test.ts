/** Tests the comparison of two refs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
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
  const base = await seedCommit(gantry, project.id, { a: 'one\n', 'd/b': '1\n' });
  const branch = { branch: 'feature/x', from: 'main', message: 'On the <branch>' };
  const head = await seedCommit(gantry, project.id, { a: 'two\n' }, branch);
  await seedCommit(gantry, project.id, { c: 'main goes on\n' });
  return { ...project, base, head, compare: `/${project.full_path}/compare` };
};

const forkOf = async (id: number): Promise<{ id: number; path_with_namespace: string }> => {
  const name = unique('fork');
  const { status, body, text } = await gantry.api(`POST /projects/${id}/fork`, {
    json: { path: name, name },
  });
  assert.equal(status, 201, text);
  return body;
};

test('compares with the common ancestor, at the web_url of the API', async () => {
  const { id, compare, head } = await newProject();
  const { body } = await gantry.api(`GET /projects/${id}/repository/compare?from=main&to=feature/x`);
  for (const address of [new URL(body.web_url).pathname, `${compare}/main...feature/x`]) {
    const { status, text } = await user.get(address);
    assert.equal(status, 200, address);
    assert.ok(text.includes('<h2>1 commit</h2>') && text.includes('On the &lt;branch&gt;'), text);
    assert.ok(text.includes(`/commit/${head}"`) && text.includes('1 changed file'));
  }
  const straight = (await user.get(`${compare}/main..feature/x`)).text;
  assert.ok(straight.includes('2 changed files'), 'two dots compare with the ref itself');
  assert.ok((await user.get(`${compare}/feature/x...feature/x`)).text.includes('Nothing to compare'));
});

test('lists long comparisons in pages', async () => {
  const { id, compare, head } = await newProject();
  let tip = head;
  for (let at = 1; at <= 100; at += 1)
    tip = await seedCommit(gantry, id, { a: `${at}` }, { branch: 'feature/x', message: `Step ${at}` });
  const first = (await user.get(`${compare}/main...feature/x?w=1`)).text;
  assert.ok(first.includes('<h2>101 commits</h2>') && first.includes(`/commit/${tip}"`));
  assert.ok(!first.includes(`/commit/${head}"`), 'the oldest is on the next page');
  const next = `${compare}/main...feature/x?w=1&amp;page=2`;
  assert.ok(first.includes(`href="${next}">Next</a>`), first);
  for (const page of [2, 9]) {
    const second = (await user.get(`${compare}/main...feature/x?page=${page}`)).text;
    assert.ok(second.includes(`/commit/${head}"`) && !second.includes(`/commit/${tip}"`));
    assert.ok(second.includes('Page 2 of 2') && second.includes('1 changed file'));
  }
  assert.equal((await user.get(`${compare}/main...feature/x?page=x`)).status, 400);
});

test('the form leads to the comparison', async () => {
  const { compare } = await newProject();
  const { status, text } = await user.get(compare);
  assert.equal(status, 200);
  assert.ok(text.includes('<option value="feature/x">') && text.includes('value="main"'));
  const { location } = await user.get(`${compare}?from=main&to=feature%2Fx`);
  assert.equal(location, `${compare}/main...feature/x`);
  const straight = await user.get(`${compare}?from=main&to=feature%2Fx&straight=1`);
  assert.equal(straight.location, `${compare}/main..feature/x`);
  const shown = (await user.get(straight.location ?? '')).text;
  assert.ok(shown.includes(`href="${compare}/feature/x..main">Swap`));
  assert.match(shown, /<option value="1" selected>/);
});

test('shows the form again for a ref that does not exist', async () => {
  const { compare } = await newProject();
  const { status, text } = await user.get(`${compare}/main...no%3Cpe`);
  assert.equal(status, 422);
  assert.ok(text.includes('No branch, tag or commit is named “no&lt;pe”.'), text);
  assert.equal((await user.get(`${compare}/main`)).status, 200);
});

test('shows one file, and ignores white space', async () => {
  const { compare } = await newProject();
  const { text } = await user.get(`${compare}/main...feature/x?file=a&w=1`);
  assert.ok(text.includes('Diff of a') && text.includes('All files') && text.includes('Show whitespace'));
});

test('shows an image as it was at the common ancestor', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const base = await seedCommit(gantry, id, { 'pic.png': 'a\0' });
  const head = await seedCommit(gantry, id, { 'pic.png': 'b\0' }, { branch: 'feature', from: 'main' });
  await seedCommit(gantry, id, { 'pic.png': 'c\0' });
  const { text } = await user.get(`/${full_path}/compare/main...feature`);
  const images = [...text.matchAll(/<img src="([^"]+)" alt="(?:Before|After)"/g)].map(([, path]) => path);
  assert.deepEqual(
    images.map((path) => /\/raw\/(\w+)\/pic\.png$/.exec(path ?? '')?.[1]),
    [base, head],
  );
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, compare } = await newProject('private');
  for (const end of ['', '/main...feature/x']) {
    const missing = await user.get(`/no-such/project/compare${end}`);
    const hidden = await user.get(compare + end);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match((await openVisitor(gantry).get(compare + end)).location ?? '', /^\/users\/sign_in/);
  }
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${compare}/main...feature/x`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.compare}/main...feature/x`)).status, 200);
});

test('offers a merge request between two branches to those who may open one', async (t) => {
  t.mock.method(gantry.service.platform, 'hasPage', () => true);
  const { id, compare, full_path, head } = await newProject();
  const { visitor: developer } = await seedVisitor(gantry, { project: id, access_level: 30 });
  const query = 'merge_request%5Bsource_branch%5D=feature%2Fx&amp;merge_request%5Btarget_branch%5D=main';
  const offered = `href="/${full_path}/merge_requests/new?${query}"`;
  assert.ok((await developer.get(`${compare}/main...feature/x`)).text.includes(offered));
  assert.ok(!(await developer.get(`${compare}/main...${head}`)).text.includes('merge_requests/new?'));
  for (const other of [user, openVisitor(gantry)]) {
    const { text } = await other.get(`${compare}/main...feature/x`);
    assert.ok(!text.includes('merge_requests/new?'), 'only with a role, as the branch is the source');
  }
});

test('compares with a fork or the project that it was forked from, and swaps the sides', async () => {
  const { id, compare, full_path } = await newProject();
  const fork = await forkOf(id);
  await settle(gantry);
  const forkPage = `/${fork.path_with_namespace}/compare`;
  const change = { branch: 'ours', from: 'main', message: 'Only in the fork' };
  const own = await seedCommit(gantry, fork.id, { fresh: 'f\n', 'pic.png': 'a\0' }, change);
  await seedCommit(gantry, id, { later: 'l\n' }, { message: 'Only above' });
  await settle(gantry);

  const form = (await user.get(forkPage)).text;
  assert.match(form, new RegExp(`name="from_project_id"[^]+<option value="${id}">${full_path}</option>`));
  const sent = await user.get(`${forkPage}?from=main&to=ours&from_project_id=${id}`);
  assert.equal(sent.location, `${forkPage}/main...ours?from_project_id=${id}`);
  const since = await user.get(sent.location ?? '');
  assert.equal(since.status, 200);
  assert.match(since.text, /<h2>1 commit<\/h2>/);
  assert.ok(
    since.text.includes(`/${fork.path_with_namespace}/commit/${own}"`) &&
      since.text.includes('2 changed files'),
  );
  assert.ok(since.text.includes(`href="${compare}/ours...main?from_project_id=${fork.id}">Swap`));
  assert.match(
    since.text,
    new RegExp(`name="return_to" value="[^"]*\\?from_project_id=${id}#changes"`),
    'the choice of the view keeps the project',
  );
  const all = (await user.get(`${forkPage}/main..ours?from_project_id=${id}`)).text;
  assert.ok(all.includes('3 changed files'));
  const swapped = (await user.get(`${compare}/ours...main?from_project_id=${fork.id}`)).text;
  assert.ok(swapped.includes('Only above') && !swapped.includes('Only in the fork'));

  const none = await user.get(`${forkPage}/none...ours?from_project_id=${id}`);
  assert.deepEqual(
    [none.status, none.text.includes('No branch, tag or commit is named “none”.')],
    [422, true],
  );
});

test('offers and compares only projects of the network that the viewer may read', async () => {
  const { id, compare } = await newProject();
  const fork = await forkOf(id);
  await settle(gantry);
  const stranger = await newProject();
  const hidden = await newProject('private');
  await gantry.api(`PUT /projects/${fork.id}`, { json: { visibility: 'private' } });
  assert.doesNotMatch((await user.get(compare)).text, /from_project_id/);
  const missing = await user.get(`${compare}/main...main?from_project_id=99999999`);
  for (const other of [fork, stranger, hidden]) {
    const seen = await user.get(`${compare}/main...main?from_project_id=${other.id}`);
    assert.deepEqual([seen.status, seen.text], [404, missing.text]);
  }
});

test('offers a merge request from a fork into the project that it is compared with', async (t) => {
  t.mock.method(gantry.service.platform, 'hasPage', () => true);
  const { id } = await newProject();
  const fork = await forkOf(id);
  await settle(gantry);
  await seedCommit(gantry, fork.id, { fresh: 'f\n' }, { branch: 'main', from: 'main' });
  const { visitor: developer } = await seedVisitor(gantry, { project: fork.id, access_level: 30 });
  const { text } = await developer.get(
    `/${fork.path_with_namespace}/compare/main...main?from_project_id=${id}`,
  );
  assert.match(text, new RegExp(`merge_requests/new\\?[^"]+target_project_id%5D=${id}"`));
  assert.doesNotMatch(
    (await user.get(`/${fork.path_with_namespace}/compare/main...main?from_project_id=${id}`)).text,
    /merge_requests\/new\?/,
  );
});
