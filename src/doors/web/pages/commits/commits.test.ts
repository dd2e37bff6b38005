/** Tests the history of a branch or file. */
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
  const first = await seedCommit(gantry, project.id, { a: '1', 'd/b': '1' }, { message: 'First <one>' });
  const second = await seedCommit(gantry, project.id, { a: '2' }, { message: 'Second' });
  return { ...project, first, second, commits: `/${project.full_path}/-/commits` };
};

test('shows the commits of a branch by day, with their pipelines', async () => {
  const { id, commits, first, second, full_path } = await newProject();
  await gantry.api(`POST /projects/${id}/statuses/${second}`, { json: { state: 'success', ref: 'main' } });
  const { status, text } = await user.get(`${commits}/main`);
  assert.equal(status, 200);
  assert.ok(text.includes('<h2>14 July 2017</h2>'), text);
  assert.ok(text.includes(`href="/${full_path}/commit/${first}"`) && text.includes('First &lt;one&gt;'));
  assert.ok(text.indexOf('Second') < text.indexOf('First &lt;one'));
  assert.ok(text.includes('Passed'), 'the state of the pipeline');
  assert.equal((await user.get(commits)).status, 200);
  assert.ok(text.includes(`href="/${full_path}/-/commits/${second}" data-key="y"`), 'the permalink');
});

test('shows the commits that changed a file', async () => {
  const { commits, first, second } = await newProject();
  const { text } = await user.get(`${commits}/main/d/b`);
  assert.deepEqual([text.includes(first), text.includes(`/commit/${second}`)], [true, false]);
  assert.ok((await user.get(`${commits}/main/none`)).text.includes('No commits'));
});

test('filters by message and author', async () => {
  const { commits, first, second } = await newProject();
  const found = async (query: string) => {
    const { text } = await user.get(`${commits}/main?${query}`);
    return [text.includes(`/commit/${first}"`), text.includes(`/commit/${second}"`)];
  };
  assert.deepEqual(await found('search=SECOND'), [false, true]);
  assert.deepEqual(await found('search=.*'), [false, false]);
  assert.deepEqual(await found('author=ada'), [true, true]);
  assert.deepEqual(await found('author=nobody&search=first'), [false, false]);
});

test('names both who wrote a commit and who committed it, where they differ', async () => {
  const { id, commits, full_path } = await newProject();
  const json = {
    branch: 'main',
    commit_message: 'Of two people',
    author_name: 'Wilma & Writer',
    author_email: 'wilma@example.com',
    actions: [{ action: 'create', file_path: 'two', content: 't' }],
  };
  const { body } = await gantry.api(`POST /projects/${id}/repository/commits`, { json });
  const time = '<time[^>]*>[^<]*</time>';
  const both = new RegExp(
    `<span>Wilma &amp; Writer authored ${time}</span><span>(?:<a [^>]*>)?${body.committer_name}(?:</a>)? committed ${time}</span>`,
  );
  const list = (await user.get(`${commits}/main`)).text;
  assert.match(list, both);
  assert.match(list, new RegExp(`<span class="meta">[^<]+ committed ${time}</span>`), 'of one person');
  assert.ok(!/Writer committed/.test(list));
  const search = `/search?scope=commits&project_id=${id}&search=people`;
  assert.match((await user.get(search)).text, both);
  const home = (await user.get(`/${full_path}`)).text;
  assert.match(home, /Wilma &amp; Writer<\/b>[^]*authored <time/);
});

test('pages by newer and older', async () => {
  const { id, commits, first } = await newProject();
  for (let at = 0; at < 40; at += 1) await seedCommit(gantry, id, { a: `${at + 3}` });
  const { text } = await user.get(`${commits}/main`);
  assert.ok(!text.includes(first) && text.includes(`href="${commits}/main?page=2">Older`));
  const older = (await user.get(`${commits}/main?page=2`)).text;
  assert.ok(
    older.includes(first) && older.includes(`href="${commits}/main">Newer`) && !older.includes('>Older<'),
  );
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, commits } = await newProject('private');
  const missing = await user.get('/no-such/project/-/commits/main');
  const hidden = await user.get(`${commits}/main`);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${commits}/main`)).location ?? '', /^\/users\/sign_in/);
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${commits}/main`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.commits}/main?search=x`)).status, 200);
});

test('an unknown ref is missing, and a bad page is refused', async () => {
  const { commits } = await newProject();
  assert.equal((await user.get(`${commits}/nope`)).status, 404);
  assert.equal((await user.get(`${commits}/main?page=x`)).status, 400);
  assert.equal((await user.get(`${commits}/main?page=99999999999999`)).status, 200);
});

test('filters by the days of the commits, and keeps the days in its links', async () => {
  const { id, commits, first } = await newProject();
  const json = {
    branch: 'main',
    commit_message: 'Of today',
    actions: [{ action: 'create', file_path: 'today', content: 't' }],
  };
  const { body } = await gantry.api(`POST /projects/${id}/repository/commits`, { json });
  const found = async (query: string) => {
    const { text } = await user.get(`${commits}/main?${query}`);
    return [text.includes(`/commit/${first}"`), text.includes(`/commit/${body.id}"`)];
  };
  assert.deepEqual(await found('since=2017-07-14&until='), [true, true]);
  assert.deepEqual(await found('since=2017-07-15'), [false, true]);
  assert.deepEqual(await found('until=2017-07-14'), [true, false]);
  assert.deepEqual(await found('until=2017-07-13'), [false, false]);
  assert.deepEqual(await found('since=2017-07-14&until=2017-07-14'), [true, false]);
  const { text } = await user.get(`${commits}/main?since=2017-07-14&until=2017-07-15&page=2`);
  assert.match(text, /name="since" type="date" value="2017-07-14"/);
  assert.match(text, /since=2017-07-14&amp;until=2017-07-15">Newer/);
  assert.equal((await user.get(`${commits}/main?since=yesterday`)).status, 400);
});

test('unfolds the whole message of a commit', async () => {
  const { id, commits } = await newProject();
  await seedCommit(gantry, id, { b: '1' }, { message: 'Title\n\nBody <b>\nof two lines\n' });
  const { text } = await user.get(`${commits}/main`);
  assert.match(text, /<p class="lines">Body &lt;b&gt;\nof two lines<\/p><\/details>/);
  assert.equal(text.split('<p class="lines">').length, 2, 'only of messages that have more than a title');
});
