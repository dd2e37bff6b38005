/** Tests the pages and the feed of releases. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { type SeededProject, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let developer: Visitor;
let reporter: Visitor;
let stranger: Visitor;
let project: SeededProject;
let path: string;

const member = async (access_level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/-/releases`;
  [developer, reporter] = [await member(30), await member(20)];
  stranger = (await seedVisitor(gantry)).visitor;
  await seedCommit(gantry, project.id, { a: '1' });
});
after(async () => await gantry.close());

// oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
const load = async (tag: string): Promise<any> =>
  (await gantry.api(`GET /projects/${project.id}/releases/${encodeURIComponent(tag)}`)).body;

const link = (at: number, name: string, url: string, type = 'package'): Record<string, string> => ({
  [`assets[links][${at}][name]`]: name,
  [`assets[links][${at}][url]`]: url,
  [`assets[links][${at}][link_type]`]: type,
});

test('creates a release with its tag, notes, milestone and links, and shows it', async () => {
  assert.match((await developer.get(path)).text, /No releases yet/);
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, {
    json: { title: 'Spring' },
  });
  const form = await developer.get(`${path}/new`);
  assert.match(form.text, /name="ref" type="text" value="main"/);
  const made = await developer.post(path, {
    tag_name: 'rel/1.0',
    ref: 'main',
    tag_message: 'Tagged',
    name: 'First <release>',
    released_at: '',
    'milestone_ids[]': String(milestone.body.id),
    description: '*New* <script>x</script>\r\n\r\nMore',
    ...link(0, 'Package <1>', 'https://example.com/p.tar.gz'),
    ...link(1, '', ''),
  });
  assert.equal(made.location, `${path}/rel%2F1.0`);
  const { status, text } = await developer.get(`${path}/rel%2F1.0`);
  assert.equal(status, 200);
  assert.match(text, /<h1>First &lt;release&gt; <span class="badge good">Latest<\/span><\/h1>/);
  assert.ok(
    text.includes(`<nav class="trail" aria-label="Breadcrumb"><ol><li><a href="${path}">Releases</a></li>`),
  );
  assert.match(text, /<em>New<\/em>/);
  assert.doesNotMatch(text, /<script>x/);
  assert.match(text, /href="https:\/\/example\.com\/p\.tar\.gz"[^>]*>.*Package &lt;1&gt;<\/a>/);
  assert.match(text, /\/-\/milestones\/1">.*Spring/);
  const download = /href="([^"]+\.tar\.gz)" rel="nofollow"/.exec(text)?.[1] ?? '';
  assert.equal((await developer.get(download)).headers.get('content-type'), 'application/gzip');
  const json = await load('rel/1.0');
  assert.deepEqual(
    [json.description, json.assets.links.length, json.milestones.length, json.commit.message],
    ['*New* <script>x</script>\n\nMore', 1, 1, 'Change a\n'],
  );
  const listed = await developer.get(path);
  assert.match(listed.text, /rel%2F1\.0" data-row>First &lt;release&gt;<\/a>/);
  assert.equal((await developer.get(`${path}/permalink/latest`)).location, `${path}/rel%2F1.0`);
  for (const address of Object.values(json._links as Record<string, string>))
    assert.equal((await developer.get(address.replace(gantry.url, ''))).status, 200);
});

test('edits notes, date and milestones, and deletes a release', async () => {
  await developer.get(`${path}/new`);
  await developer.post(path, { tag_name: 'v2', ref: 'main', description: 'Old' });
  const before = await load('v2');
  const form = await developer.get(`${path}/v2/edit`);
  const day = /name="released_at" type="date" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  const saved = await developer.post(`${path}/v2`, { name: 'Second', description: 'New', released_at: day });
  assert.equal(saved.location, `${path}/v2`);
  const after = await load('v2');
  assert.deepEqual([after.name, after.description, after.released_at], ['Second', 'New', before.released_at]);
  await developer.post(`${path}/v2`, { released_at: '2999-01-02', 'milestone_ids[]': '' });
  assert.equal((await load('v2')).released_at, '2999-01-02T00:00:00.000Z');
  assert.match((await developer.get(`${path}/v2`)).text, /Upcoming release/);
  assert.equal((await developer.post(`${path}/v2/delete`)).location, path);
  assert.equal((await developer.get(`${path}/v2`)).status, 404);
});

test('adds, edits and removes links', async () => {
  await developer.get(`${path}/new`);
  await developer.post(path, { tag_name: 'v3', ref: 'main' });
  const sent = { name: 'Book', url: 'https://example.com/book', link_type: 'runbook' };
  assert.equal((await developer.post(`${path}/v3/links`, sent)).location, `${path}/v3/edit`);
  const [made] = (await load('v3')).assets.links;
  assert.deepEqual([made.name, made.url, made.link_type], ['Book', 'https://example.com/book', 'runbook']);
  await developer.post(`${path}/v3/links/${made.id}`, { ...sent, name: 'Guide' });
  assert.equal((await load('v3')).assets.links[0].name, 'Guide');
  const wrong = await developer.post(`${path}/v3/links`, { ...sent, url: 'javascript:alert(1)' });
  assert.deepEqual([wrong.status, /Only allowed schemes/.test(wrong.text)], [422, true]);
  const taken = await developer.post(`${path}/v3/links`, { ...sent, name: 'Other' });
  assert.deepEqual([taken.status, /URL has already been taken/.test(taken.text)], [422, true]);
  await developer.post(`${path}/v3/links/${made.id}/delete`);
  assert.deepEqual((await load('v3')).assets.links, []);
  assert.equal((await developer.post(`${path}/v3/links/${made.id}/delete`)).status, 404);
});

test('shows problems, and keeps the input', async () => {
  await developer.get(`${path}/new`);
  await developer.post(path, { tag_name: 'taken', ref: 'main' });
  const problem = async (overrides: Record<string, string>) => {
    const { status, text } = await developer.post(path, { description: '<kept>', ...overrides });
    assert.equal(status, 422);
    assert.match(text, /&lt;kept&gt;/);
    return /class="error" id="(\w+)_error">([^<]+)<|class="flash alert" role="alert">([^<]+)</g
      .exec(text.replace('One field needs another value.', '<'))
      ?.slice(1)
      .filter(Boolean);
  };
  assert.match(
    (await problem({ tag_name: 'taken', ref: 'main' }))?.join(' ') ?? '',
    /Release already exists/,
  );
  assert.match((await problem({ tag_name: 'new', ref: 'none' }))?.join(' ') ?? '', /Target none is invalid/);
  assert.match((await problem({ tag_name: 'new' }))?.join(' ') ?? '', /Ref is not specified/);
  assert.match((await problem({ tag_name: '' }))?.join(' ') ?? '', /can.*t be blank/);
  assert.match((await problem({ tag_name: 'x', released_at: 'soon' }))?.join(' ') ?? '', /released_at/);
  const bad = { tag_name: 'x', ref: 'main', ...link(0, 'One', 'javascript:x') };
  assert.match((await problem(bad))?.join(' ') ?? '', /URL of a link is blocked/);
});

test('offers and allows changes only to developers, and hides releases of private projects', async () => {
  await developer.get(`${path}/new`);
  await developer.post(path, { tag_name: 'seen', ref: 'main' });
  for (const page of [path, `${path}/seen`, `/${project.full_path}/-/releases.atom`]) {
    const { status, text } = await reporter.get(page);
    assert.deepEqual([status, /\/releases\/(?:new|seen\/edit)/.test(text)], [200, false], page);
    assert.equal((await stranger.get(page)).status, 404);
    assert.match((await openVisitor(gantry).get(page)).location ?? '', /sign_in/);
  }
  for (const page of [`${path}/new`, `${path}/seen/edit`])
    assert.equal((await reporter.get(page)).status, 403);
  assert.equal((await reporter.post(path, { tag_name: 'x', ref: 'main' })).status, 403);
  assert.equal((await reporter.post(`${path}/seen/delete`)).status, 403);
  assert.equal(
    (await reporter.post(`${path}/seen/links`, { name: 'x', url: 'https://x.example' })).status,
    403,
  );
});

test('refuses developers releases of protected tags', async () => {
  const { id } = project;
  await gantry.api(`POST /projects/${id}/releases`, { json: { tag_name: 'stable-1', ref: 'main' } });
  await gantry.api(`POST /projects/${id}/protected_tags`, { json: { name: 'stable-*' } });
  await developer.get(`${path}/new`);
  const refused = await developer.post(path, { tag_name: 'stable-2', ref: 'main' });
  assert.deepEqual([refused.status, /not allowed to create this tag/.test(refused.text)], [422, true]);
  assert.equal((await developer.post(`${path}/stable-1`, { name: 'x' })).status, 403);
  assert.equal((await developer.post(`${path}/stable-1/delete`)).status, 403);
});
