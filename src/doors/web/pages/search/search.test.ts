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
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
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
  const counts = ['Issues 1', 'Merge requests 1', 'Milestones 1'];
  assert.deepEqual(readTabs(everywhere), ['Projects 0', 'Code 1', ...counts, 'Snippets 0', 'People 1']);
  assert.match(everywhere, /aria-current="page"><svg.*?<\/svg> Code/s);
  assert.ok((await search({ search: unique('nothing') })).includes('No results'));
  const inGroup = await search({ search: word, group_id: group.full_path });
  assert.deepEqual(readTabs(inGroup), ['Projects 0', 'Code 1', ...counts, 'People 0']);
  const inProject = await search({ search: word, project_id: String(project.id), scope: 'projects' });
  const ofProject = ['Issues 1', 'Merge requests 1', 'Comments', 'Milestones 1', 'People 0'];
  assert.deepEqual(readTabs(inProject), ['Code 1', 'Commits', ...ofProject]);
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

test('filters issues and merge requests by their state, as the API does', async () => {
  const own = await seedProject(gantry, { namespace: group.id });
  const text = unique('stateful');
  await seedIssue(gantry, { project: own.id, title: `${text} open` });
  await seedIssue(gantry, { project: own.id, title: `${text} ended`, state: 'closed' });
  await seedMergeRequest(gantry, { project: own.id, title: `${text} in`, state: 'merged' });
  for (const [state, issues, requests, shown] of [
    ['all', 2, 1, /ended[^]*open|open[^]*ended/],
    ['opened', 1, 0, / open<\/a>/],
    ['closed', 1, 0, / ended<\/a>/],
    ['merged', 0, 1, /No results/],
  ] as const) {
    const page = await search({ search: text, scope: 'issues', state });
    assert.deepEqual(readTabs(page).slice(2, 4), [`Issues ${issues}`, `Merge requests ${requests}`], state);
    assert.match(page, shown, state);
    assert.match(page, new RegExp(`<option value="${state}" selected>`));
    const { headers } = await gantry.api(`GET /search?scope=issues&search=${text}&state=${state}`);
    assert.equal(headers.get('x-total'), String(issues), state);
    if (state !== 'all') assert.ok(page.includes(`state=${state}&amp;scope=merge_requests"`));
  }
  assert.equal((await user.get('/search?search=abc&state=often')).status, 400);
});

test('shows labels, sorts, and finds confidential issues alone', async () => {
  const own = await seedProject(gantry, { namespace: group.id });
  const text = unique('labelled');
  const create = async (title: string, json: object): Promise<void> => {
    const { status } = await gantry.api(`POST /projects/${own.id}/issues`, { json: { title, ...json } });
    assert.equal(status, 201);
  };
  await create(`${text} first`, { labels: 'bug' });
  await create(`${text} second`, { confidential: true, assignee_ids: [1] });
  await seedMergeRequest(gantry, { project: own.id, title: text });
  await gantry.api(`PUT /projects/${own.id}/merge_requests/1`, { json: { labels: 'ui' } });
  const member = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const as = member.visitor;
  const both = await search({ search: text, scope: 'issues' }, as);
  assert.ok(both.includes(`<a class="label" href="/${own.full_path}/issues?labels=bug"`));
  assert.match(both, / second<\/a>[^]+ first<\/a>/);
  assert.match(await search({ search: text, scope: 'issues', sort: 'asc' }, as), / first<[^]+ second</);
  const requests = await search({ search: text, scope: 'merge_requests' }, as);
  assert.ok(requests.includes(`<a class="label" href="/${own.full_path}/merge_requests?labels=ui"`));
  for (const [confidential, word, count] of [
    ['true', 'second', 1],
    ['false', 'first', 1],
    ['', 'first', 2],
  ] as const) {
    const found = await search({ search: text, scope: 'issues', confidential }, as);
    assert.equal(readTabs(found)[2], `Issues ${count}`, confidential);
    assert.ok(found.includes(` ${word}</a>`), confidential);
    assert.match(found, new RegExp(`<option value="${confidential}" selected>`));
    if (confidential !== '')
      assert.ok(found.includes(`confidential=${confidential}&amp;scope=merge_requests"`));
  }
  assert.equal((await user.get('/search?search=abc&sort=up')).status, 400);
});

test('finds what archived projects have on request only', async () => {
  const own = await seedProject(gantry, { namespace: group.id });
  const text = unique('archived');
  await seedIssue(gantry, { project: own.id, title: text });
  await gantry.api(`POST /projects/${own.id}/archive`);
  const read = async (query: Record<string, string>) =>
    readTabs(await search({ search: text, scope: 'issues', ...query })).find((tab) =>
      tab.startsWith('Issues'),
    );
  assert.equal(await read({}), 'Issues 0');
  assert.equal(await read({ include_archived: '1' }), 'Issues 1');
  assert.equal(await read({ project_id: String(own.id) }), 'Issues 1');
  assert.match(
    await search({ search: text, include_archived: '1' }),
    /name="include_archived" value="1" checked/,
  );
});

test('searches code, commits, comments and snippets of a project and its branches', async () => {
  const own = await seedProject(gantry, { namespace: group.id });
  const text = unique('branched');
  await seedCommit(gantry, own.id, { 'a.ts': 'x' }, { message: 'Start' });
  await seedCommit(gantry, own.id, { 'b.ts': text }, { branch: 'topic', message: `Add ${text} <b>` });
  const { iid } = await seedIssue(gantry, { project: own.id, title: 'Plain' });
  const notes = `/projects/${own.id}/issues/${iid}/notes`;
  const { body: note } = await gantry.api(`POST ${notes}`, { json: { body: `Not <i> ${text} here` } });
  await gantry.api('POST /snippets', {
    json: { title: `Short ${text}`, file_name: 'a.sh', content: 'x', visibility: 'public' },
  });
  await gantry.service.worker.drain();
  const at = { search: text, project_id: String(own.id) };
  const onDefault = await search({ ...at, scope: 'blobs' });
  assert.deepEqual(readTabs(onDefault).slice(0, 2), ['Code 0', 'Commits']);
  const onTopic = await search({ ...at, scope: 'blobs', ref: 'topic' });
  assert.deepEqual(readTabs(onTopic).slice(0, 2), ['Code 1', 'Commits']);
  assert.ok(onTopic.includes(`href="/${own.full_path}/-/blob/topic/b.ts`));
  assert.match(onTopic, /name="ref" value="topic"/);
  const commits = await search({ ...at, scope: 'commits', ref: 'topic' });
  assert.deepEqual(readTabs(commits).slice(0, 2), ['Code', 'Commits 1']);
  assert.match(
    commits,
    new RegExp(`href="/${own.full_path}/commit/[0-9a-f]{40}"[^>]*>Add <mark>${text}</mark> &lt;b&gt;`),
  );
  assert.ok(
    (await search({ ...at, scope: 'commits', ref: 'no-branch' })).includes(
      'No branch or tag is named “no-branch”',
    ),
  );
  const comments = await search({ ...at, scope: 'notes' });
  assert.ok(comments.includes(`href="/${own.full_path}/issues/${iid}#note_${note.id}"`));
  assert.ok(comments.includes(`Not &lt;i&gt; <mark>${text}</mark> here`));
  const snippets = await search({ search: text, scope: 'snippet_titles' });
  assert.match(snippets, new RegExp(`href="/snippets/\\d+"[^>]*>Short <mark>${text}</mark>`));
});

test('each tab says what it compares, and with which operators', async () => {
  for (const [scope, pattern] of [
    ['projects', /An exact phrase in the name or the full path/],
    ['blobs', /<code>filename:\*\.ts<\/code>/],
    ['issues', /<code>&quot;two words&quot;|<code>"two words"/],
    ['merge_requests', /<code>reviewer:me<\/code>/],
    ['milestones', /An exact phrase in the title/],
    ['snippet_titles', /An exact phrase in the title or a file name/],
    ['users', /An exact phrase in the name or the user name/],
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
