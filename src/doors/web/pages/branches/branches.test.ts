/** Tests the pages of branches. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let developer: Visitor;
let reporter: Visitor;
let developerId: number;
let reporterId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: developerId, visitor: developer } = await seedVisitor(gantry));
  ({ id: reporterId, visitor: reporter } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

/** Creates a project with `main`, `merged` (behind by one) and `feature/<b>` (ahead by one, behind by one). */
const newProject = async (visibility: 'private' | 'public' = 'private') => {
  const { id, full_path } = await seedProject(gantry, { visibility });
  await seedMember(gantry, { user: developerId, project: id, access_level: 30 });
  await seedMember(gantry, { user: reporterId, project: id, access_level: 20 });
  await seedCommit(gantry, id, { a: '1' });
  for (const branch of ['merged', 'feature/<b>'])
    await gantry.api(`POST /projects/${id}/repository/branches`, { json: { branch, ref: 'main' } });
  await seedCommit(gantry, id, { b: '1' }, { branch: 'feature/<b>', message: 'Work on <it>' });
  await seedCommit(gantry, id, { c: '1' });
  await settle(gantry);
  return { id, path: `/${full_path}/-/branches` };
};

const names = async (id: number): Promise<string[]> =>
  (await gantry.api(`GET /projects/${id}/repository/branches`)).body.map(
    ({ name }: { name: string }) => name,
  );

test('shows active and stale branches with their last commit and how they differ', async () => {
  const { path } = await newProject();
  const { status, text } = await developer.get(path);
  assert.equal(status, 200);
  // The commits of these tests are of 2017.
  assert.match(text, /Stale branches<\/h2><span class="count">3<\/span>/);
  assert.match(text, /href="[^"]+\/tree\/feature\/%3Cb%3E">feature\/&lt;b&gt;<\/a>/);
  assert.match(text, /1 behind · 1 ahead/);
  assert.match(text, /Work on &lt;it&gt;/);
  assert.match(text, />merged<\/a>[^<]*<span class="badge">.*? Merged<\/span>[\s\S]*?1 behind · 0 ahead/);
  assert.match(text, />main<\/a> <span class="badge">Default<\/span>/);
});

test('offers a merge request to those who may open one', async () => {
  const { id, path } = await newProject('public');
  const { visitor: outsider } = await seedVisitor(gantry);
  const { visitor: reporter } = await seedVisitor(gantry, { project: id, access_level: 20 });
  const offers = async (visitor: Visitor): Promise<boolean> =>
    contentIn(await visitor.get(path)).includes('New merge request</a>');
  for (const level of ['enabled', 'private', 'disabled']) {
    await gantry.api(`PUT /projects/${id}`, { json: { merge_requests_access_level: level } });
    const offered = await Promise.all([developer, reporter, outsider].map(offers));
    assert.deepEqual(offered, [level !== 'disabled', false, false], level);
  }
});

test('leads to the open merge request of a branch, and back to the list after a deletion', async () => {
  const { id, path } = await newProject('public');
  const json = { source_branch: 'feature/<b>', target_branch: 'main', title: 'x' };
  const { body } = await gantry.api(`POST /projects/${id}/merge_requests`, { json });
  const link = `/merge_requests/${body.iid}" title="Open merge request"`;
  const { text } = await developer.get(`${path}?state=all&sort=name_asc`);
  assert.equal(text.split(link).length, 2);
  await gantry.api(`PUT /projects/${id}`, { json: { merge_requests_access_level: 'private' } });
  assert.ok(!(await openVisitor(gantry).get(`${path}?state=all`)).text.includes(link));
  assert.match(text, /name="back" value="[^"]+branches\?state=all&amp;sort=name_asc"/);
  const back = `${path}?state=all&sort=name_asc`;
  const removed = await developer.post(`${path}/delete`, { branch: 'merged', back });
  assert.equal(removed.location, back);
});

test('filters, searches, sorts and pages the list', async () => {
  const { path } = await newProject();
  const listed = async (query: string) =>
    [
      ...(await developer.get(`${path}?${query}`)).text.matchAll(/<div class="title row"><a [^>]+>([^<]+)</g),
    ].map(([, name]) => name);
  assert.deepEqual(await listed('state=all&sort=name_asc'), ['feature/&lt;b&gt;', 'main', 'merged']);
  assert.deepEqual(await listed('state=active'), []);
  assert.deepEqual(await listed('state=stale&search=M&sort=name_desc'), ['merged', 'main']);
  assert.deepEqual(await listed('search=FEAT'), ['feature/&lt;b&gt;']);
  assert.deepEqual(await listed('state=all&sort=name_asc&per_page=2&page=2'), ['merged']);
  assert.match((await developer.get(`${path}?search=none`)).text, /No branches match/);
  assert.equal((await developer.get(`${path}?state=odd`)).status, 400);
});

test('creates a branch from a ref, and shows problems with the input kept', async () => {
  const { id, path } = await newProject();
  const form = await developer.get(`${path}/new?ref=merged`);
  assert.match(form.text, /name="ref"[^>]+value="merged"/);
  const made = await developer.post(path, { branch: 'topic', ref: 'merged' });
  assert.match(made.location ?? '', /\/tree\/topic$/);
  assert.ok((await names(id)).includes('topic'));
  const problem = async (branch: string, ref: string) => {
    const { status, text } = await developer.post(path, { branch, ref });
    return [status, /class="error" id="(\w+)_error">([^<]+)</.exec(text)?.slice(1)];
  };
  assert.deepEqual(await problem('topic', 'main'), [422, ['branch', 'Branch already exists']]);
  assert.deepEqual(await problem('a b', 'main'), [422, ['branch', 'Branch name is invalid']]);
  assert.deepEqual(await problem('x', 'no'), [422, ['ref', 'Invalid reference name: no']]);
  assert.match((await developer.post(path, { branch: '<a b>', ref: 'main' })).text, /value="&lt;a b&gt;"/);
});

test('deletes a branch and the merged branches, but neither the default nor protected ones', async () => {
  const { id, path } = await newProject();
  const { text } = await developer.get(`${path}?state=all`);
  assert.match(text, /Delete the branch merged/);
  assert.doesNotMatch(text, /Delete the branch main/);
  const gone = await developer.post(`${path}/delete`, { branch: 'feature/<b>' });
  assert.equal(gone.location, path);
  assert.equal((await developer.post(`${path}/delete`, { branch: 'feature/<b>' })).status, 404);
  assert.equal((await developer.post(`${path}/delete`, { branch: 'main' })).status, 405);
  assert.deepEqual(await names(id), ['main', 'merged']);
  assert.equal((await developer.post(`${path}/delete_merged`)).status, 303);
  assert.deepEqual(await names(id), ['main']);
});

test('says that a protected name is refused', async () => {
  const { id, path } = await newProject();
  await gantry.api(`POST /projects/${id}/protected_branches`, { json: { name: 'stable-*' } });
  await developer.get(`${path}/new`);
  const { status, text } = await developer.post(path, { branch: 'stable-1', ref: 'main' });
  assert.deepEqual([status, /You are not allowed to push into this branch/.test(text)], [422, true]);
});

test('says that protected branches cannot be deleted, and where the protection is removed', async () => {
  const { id, path } = await newProject();
  await gantry.api(`POST /projects/${id}/protected_branches`, { json: { name: 'merged' } });
  const { visitor: maintainer } = await seedVisitor(gantry, { project: id, access_level: 40 });
  const said = async (visitor: Visitor): Promise<boolean[]> => {
    const { text } = await visitor.get(`${path}?state=all&search=merged`);
    return [
      text.includes('Protected branches cannot be deleted. Remove the protection first.'),
      text.includes('</svg> Protected branches</a>'),
      text.includes('Delete the branch merged'),
    ];
  };
  assert.deepEqual(await said(maintainer), [true, true, false]);
  assert.deepEqual(await said(developer), [true, false, false]);
  assert.deepEqual(await said(reporter), [false, false, false]);
});

test('offers and allows changes only to developers', async () => {
  const { path } = await newProject();
  const { status, text } = await reporter.get(path);
  assert.deepEqual([status, /\/branches\/new|Delete/.test(text)], [200, false]);
  assert.equal((await reporter.get(`${path}/new`)).status, 403);
  assert.equal((await reporter.post(path, { branch: 'x', ref: 'main' })).status, 403);
  assert.equal((await reporter.post(`${path}/delete`, { branch: 'merged' })).status, 403);
  assert.equal((await reporter.post(`${path}/delete_merged`)).status, 403);
});

test('shows public branches to everyone, and hides private ones like missing ones', async () => {
  const anonymous = openVisitor(gantry);
  const open = await newProject('public');
  assert.equal((await anonymous.get(open.path)).status, 200);
  const { visitor: stranger } = await seedVisitor(gantry);
  const closed = await newProject();
  assert.equal((await stranger.get(closed.path)).status, 404);
  assert.equal((await stranger.get('/no/where/-/branches')).status, 404);
  assert.match((await anonymous.get(closed.path)).location ?? '', /sign_in/);
  const empty = await seedProject(gantry, { visibility: 'public' });
  assert.match((await anonymous.get(`/${empty.full_path}/-/branches`)).text, /No branches yet/);
});

test('branches, the commit and the project show the state of the last pipeline', async () => {
  const { id, path } = await newProject();
  const { body: branch } = await gantry.api(`GET /projects/${id}/repository/branches/main`);
  const sha: string = branch.commit.id;
  const json = { state: 'failed', ref: 'main' };
  assert.equal((await gantry.api(`POST /projects/${id}/statuses/${sha}`, { json })).status, 201);
  const home = path.replace('/-/branches', '');
  for (const address of [`${path}?state=all`, path, home, `${home}/commit/${sha}`, `${home}/-/commits`]) {
    const { text } = await developer.get(address);
    assert.match(text, /href="[^"]+\/pipelines\/\d+" title="Pipeline \d+">[^\n]*Failed/, address);
  }
});
