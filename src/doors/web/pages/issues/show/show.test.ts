/** Tests the page of an issue: what it shows to whom. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  seedIssue,
  seedMember,
  seedProject,
  unique,
} from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;
let stranger: SeededVisitor;
let path: string;
let issue: number;

const api = async (line: string, json: object = {}): Promise<{ id: number; iid: number }> => {
  const { status, body } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${status}`);
  return body;
};
const issues = () => `/projects/${project.id}/issues`;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  stranger = await seedVisitor(gantry);
  const milestone = await api(`POST /projects/${project.id}/milestones`, { title: '1.5' });
  issue = (
    await api(`POST ${issues()}`, {
      title: 'Loads <i>drop</i>',
      description: 'Long **text**<script>alert(1)</script>\n\n- [x] one\n- [ ] two',
      labels: 'bug',
      milestone_id: milestone.id,
      due_date: '2020-02-03',
      assignee_ids: [reporter.id],
    })
  ).iid;
  path = `/${project.full_path}/issues/${issue}`;
  await api(`POST ${issues()}/${issue}/notes`, { body: 'A _comment_' });
  const { id } = await api(`POST ${issues()}/${issue}/discussions`, { body: 'A question' });
  await api(`POST ${issues()}/${issue}/discussions/${id}/notes`, { body: 'An answer' });
  await api(`PUT ${issues()}/${issue}`, { add_labels: 'docs' });
  await api(`POST ${issues()}/${issue}/award_emoji`, { name: 'tada' });
  await api(`POST ${issues()}/${issue}/time_estimate?duration=1d`);
  await api(`POST ${issues()}/${issue}/add_spent_time?duration=2h`);
});
after(async () => await gantry.close());

test('says who reacted, which role authors have, and who spent how much time', async () => {
  const own = await seedProject(gantry, { visibility: 'public' });
  const developer = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const { iid } = await seedIssue(gantry, { project: own.id });
  const at = `/projects/${own.id}/issues/${iid}`;
  await gantry.api(`POST ${at}/notes?sudo=${developer.id}`, { json: { body: 'Mine' } });
  await gantry.api(`POST ${at}/notes?sudo=${stranger.id}`, { json: { body: 'Theirs' } });
  for (const [who, time] of [
    [developer.id, '2h'],
    [stranger.id, '30m'],
  ] as const) {
    await gantry.api(`POST ${at}/award_emoji?name=tada&sudo=${who}`);
    await gantry.api(`POST ${at}/notes?sudo=${who}`, { json: { body: `/spend ${time}` } });
  }
  await gantry.api(`PUT ${at}`, { json: { assignee_ids: [stranger.id] } });
  const { text } = await developer.visitor.get(`/${own.full_path}/issues/${iid}`);
  const nameOf = async (id: number): Promise<string> => (await gantry.api(`GET /users/${id}`)).body.name;
  const [first, second] = [await nameOf(developer.id), await nameOf(stranger.id)];
  assert.ok(text.includes(`title="tada: ${first}, ${second}"`), 'reactions');
  const label = `aria-label="tada: 2, including yours, by ${first}, ${second}"`;
  assert.ok(text.includes(label), 'reactions for screen readers');
  const roles = [...text.matchAll(/title="Role in the project">([^<]+)</g)].map(([, role]) => role);
  assert.deepEqual(roles, ['Developer']);
  const report = /Time by person<\/summary>([^]*?)<\/details>/.exec(text)?.[1] ?? '';
  assert.match(report, new RegExp(`${developer.username}[^]*2h`));
  const [, entries = ''] = /Time entries<\/summary>([^]*?)<\/details>/.exec(text) ?? [];
  const listed = [
    ...entries.matchAll(/<li>(\S+) by <a class="author" href="\/([^"]+)">[^]*?<time datetime=/g),
  ];
  assert.deepEqual(
    listed.map(([, time, name]) => [time, name]),
    [['2h', developer.username]],
  );
  await gantry.api(`POST ${at}/notes?sudo=${developer.id}`, { json: { body: '/spend -2h' } });
  const { body } = await gantry.api(`GET ${at}`);
  assert.equal(body.time_stats.total_time_spent, 0);
  const even = await developer.visitor.get(`/${own.full_path}/issues/${iid}`);
  assert.match(even.text, /Time entries<\/summary>[^]*<li>-2h by [^]*<li>2h by /);
});

test('closes and reopens from the head, for those who may', async () => {
  const own = await seedProject(gantry, { visibility: 'public' });
  const { visitor } = await seedVisitor(gantry, { project: own.id, access_level: 20 });
  const { iid } = await seedIssue(gantry, { project: own.id });
  const address = `/${own.full_path}/issues/${iid}`;
  const state = async (): Promise<string> =>
    (await gantry.api(`GET /projects/${own.id}/issues/${iid}`)).body.state;
  const actionIn = (text: string): string =>
    /action="([^"]+\?state_event=\w+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  await visitor.post(actionIn((await visitor.get(address)).text));
  assert.equal(await state(), 'closed');
  await visitor.post(actionIn((await visitor.get(address)).text));
  assert.equal(await state(), 'opened');
  assert.equal(actionIn((await stranger.visitor.get(address)).text), '');
});

test('leads from a moved issue to its new place, for those who see that', async () => {
  const from = await seedProject(gantry, { visibility: 'public' });
  const to = await seedProject(gantry, { visibility: 'private' });
  const { iid } = await seedIssue(gantry, { project: from.id });
  await api(`POST /projects/${from.id}/issues/${iid}/move?to_project_id=${to.id}`);
  const address = `/${from.full_path}/issues/${iid}`;
  const hidden = (await stranger.visitor.get(address)).text;
  assert.match(hidden, /This issue was moved to another project\./);
  assert.ok(!hidden.includes(to.full_path));
  await seedMember(gantry, { user: reporter.id, project: to.id, access_level: 20 });
  const link = `This issue was moved to <a href="/${to.full_path}/issues/1">${to.full_path}#1</a>`;
  assert.ok((await reporter.visitor.get(address)).text.includes(link));
});

test('shows an issue with its properties, comments, threads and events', async () => {
  const { status, text } = await reporter.visitor.get(path);
  assert.equal(status, 200);
  assert.match(text, /<h1[^>]*>Loads &lt;i&gt;drop&lt;\/i&gt; <span class="muted number">#1<\/span><\/h1>/);
  assert.match(text, /Open<\/span>[\s\S]+opened this[\s\S]+3 comments · 1 of 2 tasks done/);
  assert.match(text, /Long <strong>text<\/strong>/);
  assert.doesNotMatch(text, /<script>alert/);
  assert.match(text, /A <em>comment<\/em>[\s\S]+A question[\s\S]+class="replies"[\s\S]+An answer/);
  assert.match(text, /class="event" id="note_\d+"[\s\S]+added [\s\S]*docs/);
  assert.match(text, /tada: 1/);
  assert.match(
    text,
    /<h2>Assignee<\/h2>[\s\S]+Name of [\s\S]+1\.5[\s\S]+3 Feb 2020<\/time>, overdue[\s\S]+2h spent of 1d/,
  );
  assert.match(text, /1 participant|2 participants/);
  assert.match(text, new RegExp(`${project.full_path}#1`));
});

test('shows anonymous visitors and strangers no form that they may not use', async () => {
  const anonymous = await openVisitor(gantry).get(path);
  assert.equal(anonymous.status, 200);
  assert.doesNotMatch(anonymous.text, /method="post" action="(?!\/-\/preferences")|>Edit|New issue/);
  assert.match(anonymous.text, /Sign in<\/a> to comment/);
  assert.match(anonymous.text, /<meta name="description" content="Long/);
  const { text } = await stranger.visitor.get(path);
  assert.match(text, /action="[^"]+\/notes"/);
  assert.doesNotMatch(
    text,
    /Close issue|\/edit"|<summary>Edit|Delete this issue|Move to another|Lock discussion/,
  );
});

test('hides a confidential issue like a missing one, and mentions of it', async () => {
  const secret = await seedIssue(gantry, { project: project.id, title: 'Secret leak', confidential: 1 });
  const hidden = `/${project.full_path}/issues/${secret.iid}`;
  const missing = `/${project.full_path}/issues/9999`;
  for (const below of ['', '/edit', '/notes/1/edit']) {
    const [one, other] = [
      await stranger.visitor.get(hidden + below),
      await stranger.visitor.get(missing + below),
    ];
    assert.deepEqual([one.status, other.status], [404, 404]);
    assert.match((await openVisitor(gantry).get(hidden + below)).location ?? '', /^\/users\/sign_in/);
    assert.match((await openVisitor(gantry).get(missing + below)).location ?? '', /^\/users\/sign_in/);
  }
  for (const below of [
    '',
    '/notes',
    '/subscribe',
    '/todo',
    '/award_emoji',
    '/move',
    '/delete',
    '/time',
    '/edit',
  ]) {
    const form = { body: 'x', name: 'tada', to_project: 'x/y', title: 'x', description: '', base: 'x' };
    assert.equal((await stranger.visitor.post(hidden + below, form)).status, 404, below);
  }
  await api(`POST ${issues()}/${secret.iid}/notes`, { body: `See #${issue}` });
  await api(`POST ${issues()}/${issue}/notes`, { body: `Because of #${secret.iid}` });
  const seen = await reporter.visitor.get(path);
  assert.match(seen.text, /mentioned in issue[\s\S]+Secret leak/);
  for (const visitor of [stranger.visitor, openVisitor(gantry)]) {
    const { text } = await visitor.get(path);
    assert.doesNotMatch(text, /mentioned in issue|Secret leak/);
    assert.match(text, new RegExp(`Because of #${secret.iid}`));
  }
  assert.match((await reporter.visitor.get(hidden)).text, /This issue is confidential/);
});

test('pages a long timeline, the newest page first', async () => {
  const long = await seedIssue(gantry, { project: project.id, title: 'Long' });
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const shared = {
      project_id: project.id,
      target_type: 'Issue' as const,
      target_id: long.id,
      author_id: 1,
    };
    const rows = Array.from({ length: 60 }, (_one, at) => ({ ...shared, body: `Comment ${at}.` }));
    await db
      .insertInto('notes')
      .values(rows.map((row) => ({ ...row, system: 0 as const, created_at: now, updated_at: now })))
      .execute();
  });
  const address = `/${project.full_path}/issues/${long.iid}`;
  const last = await reporter.visitor.get(address);
  assert.match(last.text, /Page 2 of 2[\s\S]+Comment 59\./);
  assert.doesNotMatch(last.text, /Comment 49\./);
  const first = await reporter.visitor.get(`${address}?page=1`);
  assert.match(first.text, /Comment 0\.[\s\S]+Comment 49\./);
  assert.doesNotMatch(first.text, /Comment 50\./);
  assert.equal((await reporter.visitor.get(`${address}?page=x`)).status, 400);
  assert.equal((await reporter.visitor.get(`${address}?page=99`)).status, 200);
});

test('hides issues of hidden projects and of projects without issues', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const off = await seedProject(gantry, { visibility: 'public', issues_access_level: 'disabled' });
  for (const { id, full_path } of [hidden, off]) {
    await seedIssue(gantry, { project: id });
    for (const below of ['issues/1', 'issues/new']) {
      assert.equal((await stranger.visitor.get(`/${full_path}/${below}`)).status, 404);
      assert.equal((await stranger.visitor.get(`/${unique('no')}/${unique('no')}/${below}`)).status, 404);
    }
  }
});
