/** The page of searches. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import {
  type SeededGroup,
  type SeededProject,
  seedGroup,
  seedIssue,
  seedMergeRequest,
  seedProject,
  seedUser,
  unique,
} from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

const password = 'correct horse';
const word = unique('needle');
let gantry: TestService;
let user: Visitor;
let group: SeededGroup;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password };
  await gantry.api('POST /users', { json });
  user = openVisitor(gantry);
  await user.signIn(username, password);
  group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id });
  const hidden = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  for (const { id } of [project, hidden]) {
    await seedIssue(gantry, { project: id, title: `Fix <b> ${word.toUpperCase()}` });
    await seedMergeRequest(gantry, { project: id, title: `Change ${word}` });
    await seedCommit(gantry, id, { 'src/<a>.ts': `first\n<i>${word}</i>` });
    await gantry.api(`POST /projects/${id}/milestones`, { json: { title: `Then ${word}` } });
  }
  await seedUser(gantry, { username: `${word}-user` });
  await gantry.service.worker.drain();
});
after(async () => await gantry.close());

const search = async (query: Record<string, string>, as = user): Promise<string> => {
  const { status, text } = await as.get(`/search?${new URLSearchParams(query).toString()}`);
  assert.equal(status, 200, text);
  return text;
};

/** The tabs with their counts: `Code 1`. */
const readTabs = (text: string): string[] => {
  const [, nav = ''] = /<nav class="tabs-nav"[^>]*>(.*?)<\/nav>/s.exec(text) ?? [];
  return [...nav.matchAll(/<a .*?<\/a>/gs)].map(([link]) =>
    link.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, '').trim(),
  );
};

test('shows tabs with the exact counts of what the visitor sees', async () => {
  const everywhere = await search({ search: word });
  const counts = ['Code 1', 'Issues 1', 'Merge requests 1', 'Milestones 1', 'People 1'];
  assert.deepEqual(readTabs(everywhere), ['Projects 0', ...counts]);
  assert.match(everywhere, /aria-current="page"><svg.*?<\/svg> Code/s);
  assert.ok((await search({ search: unique('nothing') })).includes('No results'));
  const inGroup = await search({ search: word, group_id: group.full_path });
  assert.deepEqual(readTabs(inGroup), ['Projects 0', ...counts.slice(0, -1), 'People 0']);
  const inProject = await search({ search: word, project_id: String(project.id), scope: 'projects' });
  assert.deepEqual(readTabs(inProject), [...counts.slice(0, -1), 'People 0']);
  assert.ok(inProject.includes('Search everywhere'));
  assert.deepEqual(readTabs(await search({ search: 'ab' }))[1], 'Code');
});

test('marks what it found, and escapes it', async () => {
  const issues = await search({ search: word, scope: 'issues' });
  const mark = (text: string): string => `<mark>${text}</mark>`;
  assert.ok(issues.includes(`Fix &lt;b&gt; ${mark(word.toUpperCase())}</a>`));
  const requests = await search({ search: word, scope: 'merge_requests' });
  assert.ok(requests.includes(`Change ${mark(word)}</a>`));
  const code = await search({ search: word, scope: 'blobs' });
  assert.ok(code.includes(`&lt;i&gt;${mark(word)}&lt;/i&gt;`));
  assert.ok(code.includes(`href="/${project.full_path}/-/blob/main/src/%3Ca%3E.ts#L2"`));
  const people = await search({ search: word, scope: 'users' });
  assert.ok(people.includes(`@${mark(word)}-user`));
  assert.ok((await search({ search: word, scope: 'milestones' })).includes(`Then ${mark(word)}</a>`));
  const quoted = await search({ search: `"${word}" (`, scope: 'issues' });
  assert.equal(readTabs(quoted)[2], 'Issues 1');
});

test('links lines of images and Markdown to their source', async () => {
  const { id, full_path } = await seedProject(gantry, { namespace: group.id });
  const found = unique('rendered');
  await seedCommit(gantry, id, { 'a.svg': `<svg>\n<!-- ${found} -->\n</svg>`, 'b.md': `# B\n${found}` });
  await gantry.service.worker.drain();
  const code = await search({ search: found, scope: 'blobs' });
  for (const name of ['a.svg', 'b.md'])
    assert.ok(code.includes(`href="/${full_path}/-/blob/main/${name}?plain=1#L2"`), name);
});

test('each tab says what it compares, and with which operators', async () => {
  for (const [scope, pattern] of [
    ['projects', /A part of the name or of the full path/],
    ['blobs', /<code>filename:\*\.ts<\/code>/],
    ['issues', /<code>&quot;two words&quot;|<code>"two words"/],
    ['merge_requests', /<code>reviewer:me<\/code>/],
    ['milestones', /A part of the title/],
    ['users', /A part of the name or of the user name/],
  ] as const) {
    assert.match(await search({ search: word, scope }), pattern, scope);
    assert.match(await search({}), pattern);
  }
});

test('says what a search of code needs', async () => {
  const text = await search({ search: 'ab', scope: 'blobs' });
  assert.ok(text.includes('The search is too short (minimum is 3 characters)'));
  assert.ok((await search({})).includes('extension:ts'));
});

test('shows anonymous visitors public projects and code', async () => {
  const visitor = openVisitor(gantry);
  const path = project.path;
  const projects = await search({ search: path }, visitor);
  assert.deepEqual(readTabs(projects), ['Projects 1', 'Code 0']);
  assert.ok(projects.includes(`href="/${project.full_path}"`));
  assert.deepEqual(readTabs(await search({ search: word, scope: 'issues' }, visitor)), [
    'Projects 0',
    'Code 1',
  ]);
  const away = await visitor.get('/search?search=a&project_id=0');
  assert.deepEqual([away.status, away.headers.get('location')?.startsWith('/users/sign_in')], [302, true]);
  assert.equal((await user.get('/search?search=a&project_id=0')).status, 404);
});

test('is reached by the top bar and by the palette', async () => {
  const { text } = await user.get('/');
  assert.match(text, /class="search-button" href="\/search"/);
  const palette = await user.get(`/-/jump?q=${word}&place=/${project.full_path}`);
  assert.ok(palette.text.includes(`href="/search?search=${word}&amp;project_id=${project.id}"`));
  assert.ok(palette.text.includes(`href="/search?search=${word}"`));
});
