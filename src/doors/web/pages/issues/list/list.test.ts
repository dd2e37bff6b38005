/** Tests the list of issues of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedGroup, seedProject, unique } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;
let stranger: SeededVisitor;
let path: string;

const create = async (json: object): Promise<number> => {
  const { status, body } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
  assert.equal(status, 201);
  return body.iid;
};

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  path = `/${project.full_path}/issues`;
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  stranger = await seedVisitor(gantry);
  await gantry.api(`POST /projects/${project.id}/labels`, {
    json: { name: 'area::solver', color: '#0969da' },
  });
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: '1.5' } });
  await create({
    title: 'Splitting <b>drops</b> loads',
    description: '- [x] one\n- [ ] two',
    labels: 'bug,area::solver',
    milestone_id: milestone.body.id,
    due_date: '2020-02-03',
    assignee_ids: [reporter.id],
  });
  await create({ title: 'Plan freezes', labels: 'bug' });
  await create({ title: 'Secret leak', confidential: true, labels: 'hidden-label' });
  const closed = await create({ title: 'Wrong unit' });
  await gantry.api(`PUT /projects/${project.id}/issues/${closed}`, { json: { state_event: 'close' } });
});
after(async () => await gantry.close());

const counts = (text: string): number[] => {
  const [tabs = ''] = /aria-label="Issues by state">[\s\S]*?<\/nav>/.exec(text) ?? [];
  return [...tabs.matchAll(/class="count">(\d+)</g)].map(([, count]) => Number(count));
};
const titles = (text: string): string[] =>
  [...text.matchAll(/class="title" href="([^"]+)"/g)].map(([, href = '']) => href.split('/').at(-1) ?? '');

test('the tab of the project counts what the list behind it has', async () => {
  const tab = (text: string) => Number(/Issues <span class="count">(\d+)</.exec(text)?.[1]);
  const read = async (visitor: Visitor) => (await visitor.get(path)).text;
  for (const [visitor, open] of [
    [reporter.visitor, 3],
    [stranger.visitor, 2],
    [openVisitor(gantry), 2],
  ] as const) {
    const text = await read(visitor);
    assert.deepEqual([tab(text), counts(text)[0]], [open, open]);
  }
  const home = await reporter.visitor.get(`/${project.full_path}`);
  assert.match(home.text, /issues">3 issues</, 'the sidebar');
});

test('the page announces its feed', async () => {
  const { text } = await openVisitor(gantry).get(path);
  const feed = `/${project.full_path}/-/issues.atom`;
  const [link = ''] = /<link rel="alternate"[^>]*>/.exec(text) ?? [];
  assert.ok(link.includes(`href="${path}.atom"`) || link.includes(`href="${feed}"`), link);
});

test('rows show votes, and open blockers that the viewer sees', async () => {
  const own = await seedProject(gantry, { visibility: 'public' });
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const add = async (at: SeededProject, title: string): Promise<number> =>
    (await gantry.api(`POST /projects/${at.id}/issues`, { json: { title } })).body.iid;
  const block = async (iid: number, at: SeededProject, blocker: number) => {
    const query = `target_project_id=${at.id}&target_issue_iid=${blocker}&link_type=is_blocked_by`;
    assert.equal((await gantry.api(`POST /projects/${own.id}/issues/${iid}/links?${query}`)).status, 201);
  };
  const [blocked, secretly, blocker] = [await add(own, 'A'), await add(own, 'B'), await add(own, 'C')];
  await block(blocked, own, blocker);
  await block(secretly, hidden, await add(hidden, 'Hidden'));
  await gantry.api(`POST /projects/${own.id}/issues/${blocked}/award_emoji?name=thumbsup`);
  const row = async (iid: number): Promise<string> => {
    const { text } = await stranger.visitor.get(`/${own.full_path}/issues`);
    return new RegExp(`href="/${own.full_path}/issues/${iid}" data-row[^]*?</li>`).exec(text)?.[0] ?? '';
  };
  assert.match(await row(blocked), /title="Blocked by 1 open issue"[^]*title="1 vote"/);
  for (const iid of [secretly, blocker]) assert.doesNotMatch(await row(iid), /Blocked|vote/);
  await gantry.api(`PUT /projects/${own.id}/issues/${blocker}`, { json: { state_event: 'close' } });
  assert.doesNotMatch(await row(blocked), /Blocked/);
});

test('lists issues with what they have, newest first', async () => {
  const { status, text } = await reporter.visitor.get(path);
  assert.equal(status, 200);
  assert.deepEqual(
    [titles(text), counts(text)],
    [
      ['3', '2', '1'],
      [3, 1, 4],
    ],
  );
  assert.match(text, /Splitting &lt;b&gt;drops&lt;\/b&gt; loads/);
  assert.match(text, /class="label"[\s\S]+solver/);
  assert.match(text, /1 of 2 tasks[\s\S]+1\.5[\s\S]+3 Feb 2020<\/time>, overdue/);
  assert.match(text, new RegExp(`Assigned to Name of ${reporter.username}`));
  for (const filter of [`assignee_username=${reporter.username}`, 'author_username=root'])
    assert.ok(text.includes(`href="${path}?${filter}"`), filter);
  assert.match(text, /aria-label="Confidential"/);
  const closed = await reporter.visitor.get(`${path}?state=closed`);
  assert.deepEqual([titles(closed.text), counts(closed.text)], [['4'], [3, 1, 4]]);
  assert.match(closed.text, /#4 closed <time/);
  assert.deepEqual(titles((await reporter.visitor.get(`${path}?state=all&sort=asc`)).text), [
    '1',
    '2',
    '3',
    '4',
  ]);
});

test('has one address, and a tab in the header of the project', async () => {
  const { status, location } = await reporter.visitor.get(`/${project.full_path}/-/issues?state=all`);
  assert.deepEqual([status, location], [302, `${path}?state=all`]);
  const { text } = await reporter.visitor.get(`/${project.full_path}`);
  assert.match(text, new RegExp(`href="${path}"`));
});

test('filters by the parameters of the API, with exact counts and a chip for each', async () => {
  const { text } = await reporter.visitor.get(
    `${path}?labels=bug&assignee_username=${reporter.username}&q2=x`,
  );
  assert.deepEqual([titles(text), counts(text)], [['1'], [1, 0, 1]]);
  assert.match(text, /aria-label="Remove the filter label = bug"/);
  assert.match(text, new RegExp(`class="chip" href="${path}\\?assignee_username=${reporter.username}"`));
  const excluded = await reporter.visitor.get(`${path}?not[labels]=area::solver&label_name[]=bug`);
  assert.deepEqual(titles(excluded.text), ['2']);
  assert.deepEqual(titles((await reporter.visitor.get(`${path}?due_date=overdue`)).text), ['1']);
  assert.deepEqual(titles((await reporter.visitor.get(`${path}?confidential=true`)).text), ['3']);
  assert.deepEqual(
    titles((await reporter.visitor.get(`${path}?search=freezes&labels=&author_username=`)).text),
    ['2'],
  );
  const none = await reporter.visitor.get(`${path}?labels=${unique('none')}`);
  assert.match(none.text, /No issues match/);
});

test('turns what is typed into the same parameters', async () => {
  const typed = await reporter.visitor.get(
    `${path}?labels=bug&q=${encodeURIComponent('assignee:me is:all load')}`,
  );
  assert.deepEqual(
    [typed.status, typed.location],
    [302, `${path}?state=all&labels=bug&assignee_username=${reporter.username}&search=load`],
  );
  assert.equal((await reporter.visitor.get(`${path}?q=%232`)).location, `${path}/2`);
  assert.equal((await reporter.visitor.get(`${path}?q=`)).location, path);
});

test('pages through the list and keeps its filters', async () => {
  const first = await reporter.visitor.get(`${path}?labels=bug&per_page=1`);
  assert.deepEqual(titles(first.text), ['2']);
  assert.match(first.text, /labels=bug&amp;page=2&amp;per_page=1">Next/);
  assert.match(first.text, /1&ndash;1 of 2 open issues match</);
  assert.deepEqual(titles((await reporter.visitor.get(`${path}?labels=bug&per_page=1&page=2`)).text), ['1']);
  assert.match((await reporter.visitor.get(`${path}?page=9`)).text, /This page has no issues/);
});

test('hides confidential issues, their labels and their number from those who may not see them', async () => {
  for (const visitor of [stranger.visitor, openVisitor(gantry)]) {
    for (const query of ['', '?labels=hidden-label', '?confidential=true', '?search=leak']) {
      const { status, text } = await visitor.get(path + query);
      assert.equal(status, 200);
      assert.doesNotMatch(text, /Secret leak|class="title" href="[^"]+\/3"/);
    }
    const { text } = await visitor.get(path);
    assert.deepEqual(
      [titles(text), counts(text)],
      [
        ['2', '1'],
        [2, 1, 3],
      ],
    );
    assert.deepEqual(counts((await visitor.get(`${path}?labels=hidden-label`)).text), [0, 0, 0]);
  }
});

test('shows anonymous visitors public lists only, and no list of a hidden project', async () => {
  const anonymous = openVisitor(gantry);
  const { text } = await anonymous.get(path);
  assert.doesNotMatch(text, /New issue|method="post"/);
  const mine = await anonymous.get(`${path}?scope=assigned-to-me`);
  assert.deepEqual([mine.status, titles(mine.text)], [200, []]);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const missing = `/${unique('missing')}/${unique('missing')}/issues`;
  const answers = [`/${hidden.full_path}/issues`, missing];
  for (const address of answers) {
    assert.match((await anonymous.get(address)).location ?? '', /^\/users\/sign_in/);
    assert.equal((await stranger.visitor.get(address)).status, 404);
  }
  const off = await seedProject(gantry, { visibility: 'public', issues_access_level: 'disabled' });
  assert.equal((await stranger.visitor.get(`/${off.full_path}/issues`)).status, 404);
});

test('refuses filters that make no sense', async () => {
  for (const query of ['state=x', 'due_date=someday', 'not[labels][a]=b', 'weight=3', 'per_page=0']) {
    assert.equal((await reporter.visitor.get(`${path}?${query}`)).status, 400, query);
  }
});

test('exports the issues of a group, and those of the user', async () => {
  const group = await seedGroup(gantry);
  for (const [title, visibility] of [
    ['Shown', 'public'],
    ['Hidden', 'private'],
  ] as const) {
    const inGroup = await seedProject(gantry, { visibility, namespace: group.id });
    const json = { title, assignee_ids: [stranger.id] };
    await gantry.api(`POST /projects/${inGroup.id}/issues`, { json });
  }
  for (const at of [`/groups/${group.full_path}/-/issues`, '/dashboard/issues']) {
    assert.match(
      (await stranger.visitor.get(`${at}?search=n`)).text,
      new RegExp(`href="${at}/export\\?search=n"`),
    );
    const { status, text, headers } = await stranger.visitor.get(`${at}/export?state=all`);
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8'], at);
    assert.match(text, /^Number,Title,[^]*1,Shown,opened/);
    assert.doesNotMatch(text, /Hidden|Plan freezes/, at);
    assert.match((await openVisitor(gantry).get(`${at}/export`)).location ?? '', /^\/users\/sign_in/);
  }
  const secret = await seedGroup(gantry, { visibility: 'private' });
  assert.equal((await stranger.visitor.get(`/groups/${secret.full_path}/-/issues/export`)).status, 404);
});

test('exports the list as CSV', async () => {
  const at = `${path}/export?labels=bug&sort=asc`;
  assert.match((await reporter.visitor.get(`${path}?labels=bug`)).text, /issues\/export\?labels=bug"/);
  await gantry.api(`PUT /projects/${project.id}/issues/2`, { json: { title: '=cmd, "x"' } });
  const { status, text, headers } = await reporter.visitor.get(at);
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8']);
  const [head, first, second, ...rest] = text.split('\r\n');
  assert.match(head ?? '', /^Number,Title,State,/);
  assert.match(
    first ?? '',
    /^1,Splitting <b>drops<\/b> loads,opened,root,[^,]+,"area::solver, bug",1\.5,2020-02-03,no,/,
  );
  assert.match(second ?? '', /^2,"'=cmd, ""x""",opened,/);
  assert.deepEqual(rest, ['']);
  const all = await stranger.visitor.get(`${path}/export?state=all`);
  assert.doesNotMatch(all.text, /Secret leak/);
  assert.match((await openVisitor(gantry).get(at)).location ?? '', /^\/users\/sign_in/);
  assert.equal((await reporter.visitor.get(`${path}/export?not[labels][a]=b`)).status, 400);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  assert.equal((await stranger.visitor.get(`/${hidden.full_path}/issues/export`)).status, 404);
});
