/** Tests the pages of a project's integrations. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let master: SeededVisitor;
let developer: SeededVisitor;
let stranger: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  [master, developer, stranger] = [
    await seedVisitor(gantry),
    await seedVisitor(gantry),
    await seedVisitor(gantry),
  ];
});
after(async () => await gantry.close());

const place = async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const load = async (slug: string) => await gantry.api(`GET /projects/${project.id}/integrations/${slug}`);
  return { project, load, path: `/${project.full_path}/-/settings/integrations` };
};

const urls = {
  active: '1',
  project_url: 'https://tracker.example.com/p',
  issues_url: 'https://tracker.example.com/i/:id',
  new_issue_url: 'https://tracker.example.com/new',
};

test('connects, deactivates and removes a tracker', async () => {
  const { load, path } = await place();
  const { visitor } = master;
  assert.match((await visitor.get(path)).text, /Redmine<\/a>[\s\S]*Not set up/);
  const saved = await visitor.post(`${path}/redmine`, { ...urls, title: 'Ours <b>' });
  assert.deepEqual([saved.status, saved.location], [303, path]);
  const { body } = await load('redmine');
  assert.deepEqual([body.active, body.properties.title], [true, 'Ours <b>']);
  assert.match((await visitor.get(path)).text, /Active</);
  assert.match((await visitor.get(`${path}/redmine`)).text, /value="Ours &lt;b&gt;"/);
  await visitor.post(`${path}/redmine`, { ...urls, active: '0' });
  assert.equal((await load('redmine')).body.active, false);
  assert.match((await visitor.get(path)).text, /Inactive/);
  assert.equal((await visitor.post(`${path}/redmine/delete`)).location, path);
  assert.equal((await load('redmine')).status, 404);
  assert.equal((await visitor.post(`${path}/redmine/delete`)).status, 404);
});

test('never shows a password, and keeps it', async () => {
  const { load, path } = await place();
  const { visitor } = master;
  const jira = { active: '1', url: 'https://jira.example.com', password: 'open sesame', username: 'bot' };
  assert.equal((await visitor.post(`${path}/jira`, jira)).status, 303);
  const { text } = await visitor.get(`${path}/jira`);
  assert.deepEqual([/sesame/.test(text), /Leave it empty to keep it/.test(text)], [false, true]);
  const renamed = { ...jira, password: '', username: 'other' };
  assert.equal((await visitor.post(`${path}/jira`, renamed)).status, 303);
  assert.equal((await load('jira')).body.properties.username, 'other');
  const moved = await visitor.post(`${path}/jira`, { ...renamed, url: 'https://elsewhere.example.com' });
  assert.equal(moved.status, 422);
  assert.match(moved.text, /id="password_error">Password or token can&#39;t be blank/);
});

test('shows problems, keeps the input and changes nothing', async () => {
  const { load, path } = await place();
  const { visitor } = master;
  await visitor.post(`${path}/redmine`, urls);
  const cases: [Record<string, string>, RegExp][] = [
    [
      { ...urls, active: '0', issues_url: '' },
      /id="issues_url_error">Address of an issue can&#39;t be blank/,
    ],
    [
      { ...urls, active: '0', issues_url: 'javascript:alert(1)' },
      /value="javascript:alert\(1\)"[\s\S]*is not a valid URL/,
    ],
    [urls, /Another issue tracker is already in use/],
    [{ ...urls, title: 'x'.repeat(300) }, /id="title_error"/],
  ];
  for (const [form, expected] of cases) {
    const { status, text } = await visitor.post(`${path}/bugzilla`, form);
    assert.equal(status, 422);
    assert.match(text, expected);
  }
  assert.equal((await load('bugzilla')).status, 404);
  assert.equal((await visitor.get(`${path}/no-such`)).status, 404);
});

test('connects, edits, tests and removes each chat', async () => {
  const { load, path } = await place();
  const { visitor } = master;
  for (const slug of ['slack', 'mattermost', 'microsoft-teams', 'discord']) {
    const page = `${path}/${slug}`;
    assert.match((await visitor.get(path)).text, new RegExp(`/${slug}">[^<]+</a>[\\s\\S]*?Not set up`));
    assert.match((await visitor.get(page)).text, /name="push_events" type="checkbox" value="1" checked/);
    const webhook = `https://chat.example.com/hooks/sesame-${slug}`;
    const saved = await visitor.post(page, { webhook, push_events: '1', pipeline_events: '1' });
    assert.deepEqual([saved.status, saved.location], [303, page], saved.text);
    const { body } = await load(slug);
    assert.deepEqual([body.push_events, body.pipeline_events, body.issues_events], [true, true, false]);
    const { text } = await visitor.get(page);
    assert.deepEqual([/sesame/.test(text), /Leave it empty to keep it/.test(text)], [false, true]);
    assert.equal((await visitor.post(page, { webhook: '', issues_events: '1' })).status, 303);
    const edited = (await load(slug)).body;
    assert.deepEqual([edited.push_events, edited.issues_events], [false, true]);
    const [, test = ''] = /action="([^"]+\/test)"/.exec(text) ?? [];
    const tested = await visitor.post(test, { trigger: 'issues_events' });
    assert.deepEqual([tested.status, tested.location], [303, test.replace(/\/test$/, '')]);
    assert.equal((await visitor.post(`${page}/delete`)).location, path);
    assert.equal((await load(slug)).status, 404);
    assert.equal((await visitor.post(`${page}/delete`)).status, 404);
  }
});

test('shows what is wrong with the address of a chat, and keeps the events', async () => {
  const { load, path } = await place();
  for (const [webhook, problem] of [
    ['', /id="webhook_error">[^<]*can&#39;t be blank/],
    ['nowhere', /id="webhook_error">[^<]*Invalid url given/],
    ['x'.repeat(3_000), /id="webhook_error"/],
  ] as const) {
    const { status, text } = await master.visitor.post(`${path}/slack`, { webhook, job_events: '1' });
    assert.equal(status, 422);
    assert.match(text, problem);
    assert.match(text, /name="job_events" type="checkbox" value="1" checked/);
    assert.doesNotMatch(text, /name="push_events" type="checkbox" value="1" checked|nowhere/);
  }
  assert.equal((await load('slack')).status, 404);
});

test('only maintainers open the pages of integrations', async () => {
  const { project, path } = await place();
  for (const one of [path, `${path}/jira`, `${path}/slack`]) {
    assert.equal((await developer.visitor.get(one)).status, 403, one);
    const hidden = await stranger.visitor.get(one);
    const missing = await stranger.visitor.get(one.replace(project.full_path, 'no-such/project'));
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match((await openVisitor(gantry).get(one)).location ?? '', /^\/users\/sign_in/);
  }
  assert.equal((await developer.visitor.post(`${path}/redmine`, urls)).status, 403);
  assert.equal((await developer.visitor.post(`${path}/redmine`, { active: 'x' })).status, 403);
  assert.equal((await developer.visitor.post(`${path}/redmine/delete`)).status, 403);
  const webhook = 'https://chat.example.com/hooks';
  assert.equal((await developer.visitor.post(`${path}/slack`, { webhook })).status, 403);
  assert.equal((await developer.visitor.post(`${path}/slack/delete`)).status, 403);
});
