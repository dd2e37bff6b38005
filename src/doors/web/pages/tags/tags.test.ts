/** Tests the pages of tags. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let developer: Visitor;
let reporter: Visitor;
let stranger: Visitor;
let project: { id: number; full_path: string };
let path: string;

const someone = async (level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level: level === 0 ? null : level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/-/tags`;
  [developer, reporter, stranger] = [await someone(30), await someone(20), await someone(0)];
  await seedCommit(gantry, project.id, { a: '1' }, { message: 'First <commit>' });
  await settle(gantry);
});
after(async () => await gantry.close());

const names = async (): Promise<string[]> =>
  (await gantry.api(`GET /projects/${project.id}/repository/tags?order_by=name&sort=asc`)).body.map(
    ({ name }: { name: string }) => name,
  );

test('creates a tag with a message and release notes, shows and deletes it', async () => {
  assert.match((await developer.get(path)).text, /No tags yet/);
  assert.match((await developer.get(`${path}/new`)).text, /name="ref"[^>]+value="main"/);
  const made = await developer.post(path, {
    tag_name: 'rel/1.0',
    ref: 'main',
    message: 'Title\r\n\r\n<b>text</b>',
    release_description: '*New* <script>x</script>',
  });
  assert.equal(made.location, `${path}/rel%2F1.0`);
  const { status, text } = await developer.get(`${path}/rel%2F1.0`);
  assert.equal(status, 200);
  assert.match(text, /Title\n\n&lt;b&gt;text&lt;\/b&gt;[\s\S]+<em>New<\/em>/);
  assert.doesNotMatch(text, /<script>x/);
  const download = /href="([^"]+\.tar\.gz)"/.exec(text)?.[1] ?? '';
  assert.equal((await developer.get(download)).headers.get('content-type'), 'application/gzip');
  assert.equal((await developer.get(`${path}/rel/1.0`)).status, 200);
  assert.match((await developer.get(path)).text, /rel%2F1\.0">rel\/1\.0<\/a>[\s\S]+First &lt;commit&gt;/);
  assert.equal((await developer.post(`${path}/delete`, { tag_name: 'rel/1.0' })).location, path);
  assert.equal((await developer.get(`${path}/rel%2F1.0`)).status, 404);
});

test('searches and sorts tags, and shows many in pages', async () => {
  for (const tag_name of ['v1', 'v2', 'w1']) await developer.post(path, { tag_name, ref: 'main' });
  const listed = async (query: string) =>
    [
      ...(await developer.get(`${path}?${query}`)).text.matchAll(/<div class="title row"><a [^>]+>([^<]+)</g),
    ].map(([, name]) => name);
  assert.deepEqual(await listed('sort=name_asc'), ['v1', 'v2', 'w1']);
  assert.deepEqual(await listed('sort=name_desc&search=V'), ['v2', 'v1']);
  assert.deepEqual(await listed('sort=name_asc&per_page=2&page=2'), ['w1']);
  assert.match((await developer.get(`${path}?search=none`)).text, /No tags match/);
});

test('shows problems, and keeps the input', async () => {
  await developer.get(`${path}/new`);
  await developer.post(path, { tag_name: 'taken', ref: 'main' });
  const problem = async (tag_name: string, ref: string) => {
    const { status, text } = await developer.post(path, { tag_name, ref, message: '<kept>' });
    assert.match(text, /&lt;kept&gt;/);
    return [status, /class="error" id="(\w+)_error">([^<]+)</.exec(text)?.slice(1)];
  };
  assert.deepEqual(await problem('taken', 'main'), [422, ['tag_name', 'Tag taken already exists']]);
  assert.deepEqual(await problem('a b', 'main'), [422, ['tag_name', 'Tag name invalid']]);
  assert.deepEqual(await problem('x', 'none'), [422, ['ref', 'Target none is invalid']]);
});

test('refuses developers protected tags, and marks them', async () => {
  await gantry.api(`POST /projects/${project.id}/repository/tags`, {
    json: { tag_name: 'stable-1', ref: 'main' },
  });
  await gantry.api(`POST /projects/${project.id}/protected_tags`, { json: { name: 'stable-*' } });
  const { text } = await developer.get(`${path}/stable-1`);
  assert.deepEqual([/Protected/.test(text), /Delete tag/.test(text)], [true, false]);
  assert.equal((await developer.post(`${path}/delete`, { tag_name: 'stable-1' })).status, 403);
  const refused = await developer.post(path, { tag_name: 'stable-2', ref: 'main' });
  assert.deepEqual(
    [refused.status, /not allowed to create this tag as it is protected/.test(refused.text)],
    [422, true],
  );
  assert.ok((await names()).includes('stable-1'));
});

test('offers and allows changes only to developers, and hides tags of private projects', async () => {
  await developer.post(path, { tag_name: 'seen', ref: 'main' });
  for (const page of [path, `${path}/seen`]) {
    const { status, text } = await reporter.get(page);
    assert.deepEqual([status, /\/tags\/new|Delete tag/.test(text)], [200, false]);
    assert.equal((await stranger.get(page)).status, 404);
    assert.match((await openVisitor(gantry).get(page)).location ?? '', /sign_in/);
  }
  assert.equal((await reporter.get(`${path}/new`)).status, 403);
  assert.equal((await reporter.post(path, { tag_name: 'x', ref: 'main' })).status, 403);
  assert.equal((await reporter.post(`${path}/delete`, { tag_name: 'seen' })).status, 403);
  const open = await seedProject(gantry, { visibility: 'public' });
  assert.equal((await openVisitor(gantry).get(`/${open.full_path}/-/tags`)).status, 200);
});

test('shows the state of the last pipeline of each tag', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const sha = await seedCommit(gantry, id, { a: '1' });
  await gantry.api(`POST /projects/${id}/repository/tags?tag_name=v1&ref=${sha}`);
  const json = { state: 'failed', ref: 'main' };
  assert.equal((await gantry.api(`POST /projects/${id}/statuses/${sha}`, { json })).status, 201);
  const { text } = await developer.get(`/${full_path}/-/tags`);
  assert.match(text, /href="[^"]+\/pipelines\/\d+" title="Pipeline \d+">[^\n]*Failed/);
});
