/** Tests the pages of milestones of projects and groups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { seedGroup, seedProject, setIids, unique } from '../../../../../test/support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { countStatements } from '../../../../../test/support/request_log.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Seen, type Visitor, contentIn, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let project: { id: number; full_path: string };
let maintainer: Visitor;
let guest: Visitor;
let stranger: Visitor;
let ofProject: string;
let ofGroup: string;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: group.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  [ofProject, ofGroup] = [`/${project.full_path}/-/milestones`, `/groups/${group.full_path}/-/milestones`];
  [maintainer, guest, stranger] = [await someone(40), await someone(10), await someone(null)];
});
after(async () => {
  gantry.setTime(null);
  await gantry.close();
});

const make = async (place: string, json: object) =>
  (await gantry.api(`POST ${place}/milestones`, { json })).body;
const inProject = async (json: object) => await make(`/projects/${project.id}`, json);
const pathOf = (milestone: { web_url: string }): string => new URL(milestone.web_url).pathname;

test('creates, edits, closes, reopens and deletes a milestone', async () => {
  await maintainer.get(`${ofProject}/new`);
  const sent = {
    title: ' 1.0 <i> ',
    description: 'With **care**\r\n',
    start_date: '2026-01-01',
    due_date: '2026-02-01',
  };
  const { location } = await maintainer.post(ofProject, sent);
  assert.match(location ?? '', new RegExp(`^${ofProject}/\\d+$`));
  const one = location ?? '';
  const { text } = await maintainer.get(one);
  assert.match(
    text,
    /<h1>1\.0 &lt;i&gt;<\/h1>[\s\S]+Close milestone[\s\S]+<strong>care<\/strong>[\s\S]+No issues on this/,
  );
  assert.match((await maintainer.get(`${one}/edit`)).text, /value="2026-02-01"/);
  await maintainer.post(one, { title: '1.1', description: '', start_date: '', due_date: '' });
  await maintainer.post(`${one}/close`);
  const iid = one.split('/').at(-1);
  const { body } = await gantry.api(`GET /projects/${project.id}/milestones?iids[]=${iid}`);
  const { title, description, start_date, due_date, state } = body[0];
  assert.deepEqual([title, description, start_date, due_date, state], ['1.1', '', null, null, 'closed']);
  assert.match((await maintainer.get(one)).text, /Reopen milestone/);
  await maintainer.post(`${one}/activate`);
  assert.match((await maintainer.get(one)).text, /Close milestone/);
  assert.equal((await maintainer.post(`${one}/delete`)).location, ofProject);
  assert.equal((await maintainer.get(one)).status, 404);
});

test('shows what somebody saved meanwhile instead of overwriting it', async () => {
  const milestone = await inProject({ title: 'Shared', description: 'One' });
  const path = pathOf(milestone);
  const baseIn = (page: string): string => /name="base" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const base = baseIn((await maintainer.get(`${path}/edit`)).text);
  const api = `/projects/${project.id}/milestones/${milestone.id}`;
  const stored = async (): Promise<unknown[]> => {
    const { body } = await gantry.api(`GET ${api}`);
    return [body.title, body.description, body.due_date];
  };
  await gantry.api(`PUT ${api}`, { json: { description: 'Two <b>', due_date: '2026-03-04' } });
  const mine = { title: 'Shared', description: 'Mine', start_date: '', due_date: '' };
  const refused = await maintainer.post(path, { ...mine, base });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Somebody edited this milestone meanwhile[^]+>\s*Mine<\/textarea>/);
  assert.match(refused.text, /Overwrite with my version<[^]+Saved meanwhile[^]+Two &lt;b&gt;[^]+2026-03-04/);
  assert.doesNotMatch(refused.text, /<h3>Title<\/h3>/);
  assert.deepEqual(await stored(), ['Shared', 'Two <b>', '2026-03-04']);
  for (const time of ['first', 'second']) {
    const again = await maintainer.post(path, { ...mine, base: baseIn(refused.text) });
    assert.equal(again.status, 303, time);
  }
  assert.deepEqual(await stored(), ['Shared', 'Mine', null]);
});

test('shows the form again with its problem', async () => {
  const existing = await inProject({ title: 'taken' });
  const bad: [Record<string, string>, RegExp][] = [
    [{ title: ' ' }, /Title can&#39;t be blank/],
    [{ title: 'taken' }, /has already been taken/],
    [{ title: 'kept', due_date: 'soon' }, /value="kept"[\s\S]+id="due_date_error"/],
    [{ title: 'x', start_date: '2026-02-01', due_date: '2026-01-01' }, /must be greater than start date/],
  ];
  for (const path of [ofProject, ofGroup, pathOf(existing)]) {
    for (const [sent, said] of bad.slice(path === pathOf(existing) ? 2 : 0)) {
      const { status, text } = await maintainer.post(path, sent);
      assert.deepEqual([status, said.test(text)], [422, true], `${path} ${JSON.stringify(sent)}`);
    }
  }
});

test('lists milestones by state and due date, with their progress, and says what is late', async () => {
  gantry.setTime(Date.UTC(2026, 9, 10, 12));
  const at = await seedProject(gantry, { namespace: group.id });
  const path = `/${at.full_path}/-/milestones`;
  const [later, late] = [
    await make(`/projects/${at.id}`, { title: 'later', due_date: '2026-10-12' }),
    await make(`/projects/${at.id}`, { title: 'late', due_date: '2026-10-09' }),
  ];
  await make(`/projects/${at.id}`, { title: 'someday' });
  const done = await make(`/projects/${at.id}`, { title: 'done' });
  await gantry.api(`PUT /projects/${at.id}/milestones/${done.id}`, { json: { state_event: 'close' } });
  for (const title of ['a', 'b', 'c'])
    await gantry.api(`POST /projects/${at.id}/issues`, { json: { title, milestone_id: late.id } });
  await gantry.api(`PUT /projects/${at.id}/issues/1`, { json: { state_event: 'close' } });
  const { text } = await guest.get(path);
  gantry.setTime(null);
  const titles = (of: string): string[] =>
    [...of.matchAll(/class="title" href="[^"]+">([^<]+)</g)].map(([, title = '']) => title);
  assert.deepEqual(titles(text).slice(0, 3), ['late', 'later', 'someday']);
  assert.match(text, /1 day overdue[\s\S]+1 of 3 issues closed[\s\S]+Due in 2 days[\s\S]+No due date/);
  assert.deepEqual(titles((await guest.get(`${path}?state=closed`)).text), ['done']);
  assert.deepEqual(titles((await guest.get(`${path}?search=LATER&state=all`)).text), ['later']);
  assert.ok(text.includes(`href="${pathOf(later)}"`));
  assert.equal((await guest.get(`${path}?state=odd`)).status, 400);
});

test('shows the issues that the visitor sees, page by page, and a burn-down chart', async () => {
  const milestone = await inProject({
    title: unique('burn'),
    start_date: '2026-01-05',
    due_date: '2026-03-01',
  });
  for (const title of ['one', 'two', 'three'])
    await gantry.api(`POST /projects/${project.id}/issues`, {
      json: { title, milestone_id: milestone.id, confidential: title === 'three' },
    });
  const path = pathOf(milestone);
  const { text } = await maintainer.get(path);
  assert.match(
    text,
    /three[\s\S]+two[\s\S]+one[\s\S]+0 of 3 issues closed[\s\S]+aria-label="Open issues by day: 0 at first/,
  );
  const hidden = await guest.get(path);
  assert.match(hidden.text, /0 of 2 issues closed/);
  assert.doesNotMatch(hidden.text, />three</);
  const second = await maintainer.get(`${path}?per_page=2&page=2`);
  assert.deepEqual([second.text.includes('>one<'), second.text.includes('>two<')], [true, false]);
  assert.match(
    (await maintainer.get(`${path}?tab=merge_requests`)).text,
    /No merge requests on this milestone/,
  );
});

test('draws the charts of thousands of issues and changes, too', async () => {
  const [start_date, end] = ['2026-01-05', '2026-01-07'];
  const milestone = await inProject({ title: unique('busy'), start_date, due_date: end });
  const [first, second] = [`${start_date}T01:00:00Z`, '2026-01-06T01:00:00Z'].map((time) =>
    sql.lit(Date.parse(time)),
  );
  await gantry.service.platform.store.write(async ({ db }) => {
    const { rows } = await sql<{ iid: number }>`
      select coalesce(max(iid), 0) as iid from issues where project_id = ${project.id}`.execute(db);
    const last = rows[0]?.iid ?? 0;
    await sql`insert into issues (project_id, iid, title, description, state, author_id, milestone_id, confidential, closed_at, created_at, updated_at)
      with recursive numbers (number) as (
        select 1 union all select number + 1 from numbers where number < 2500)
      select ${sql.lit(project.id)}, ${sql.lit(last)} + number, 'busy', '', case when number <= 500 then 'closed' else 'opened' end, 1,
        ${sql.lit(milestone.id)}, 0, case when number <= 500 then ${second} end, ${first}, ${first} from numbers`.execute(
      db,
    );
    await setIids(db, project.id, { issue: last + 2500 });
    await sql`insert into resource_events (kind, target_type, target_id, action, created_at)
      with recursive numbers (number) as (
        select 1 union all select number + 1 from numbers where number <= 20001)
      select 'state', 'Issue', (select max(id) from issues where project_id = ${project.id}),
        case when number % 2 = 0 then 'closed' else 'reopened' end, ${second} + number from numbers`.execute(
      db,
    );
  });
  const { text } = await maintainer.get(pathOf(milestone));
  const [table = ''] = /aria-label="Issues by day">[\s\S]*?<\/table>/.exec(text) ?? [];
  assert.deepEqual(
    [...table.matchAll(/<th scope="row">([^<]*)<\/th><td>(\d+)<\/td><td>(\d+)<\/td><td>(\d+)</g)].map(
      ([, ...cells]) => cells.join(' '),
    ),
    [`${start_date} 2500 0 2500`, '2026-01-06 1999 501 2500', `${end} 1999 501 2500`],
  );
});

test('leads to a new issue on the milestone, for those who may set it', async () => {
  const milestone = await inProject({ title: unique('fresh') });
  const path = pathOf(milestone);
  const linkIn = (seen: Seen): string | undefined =>
    /<a [^>]*href="([^"]+)">(?:<[^>]+>)* New issue/.exec(contentIn(seen))?.[1];
  const link = linkIn(await maintainer.get(path)) ?? '';
  assert.equal(link, `/${project.full_path}/issues/new?issue%5Bmilestone_id%5D=${milestone.id}`);
  assert.match((await maintainer.get(link)).text, new RegExp(`<option value="${milestone.id}" selected>`));
  assert.equal(linkIn(await guest.get(path)), undefined);
  await maintainer.post(`${path}/close`);
  assert.equal(linkIn(await maintainer.get(path)), undefined, 'closed');
});

test('milestones of a group show in its projects, and are edited in the group', async () => {
  const milestone = await make(`/groups/${group.id}`, { title: unique('shared') });
  await gantry.api(`POST /projects/${project.id}/issues`, {
    json: { title: 'of the fair', milestone_id: milestone.id },
  });
  const { text } = await maintainer.get(`${ofProject}?state=all&order=newest`);
  assert.ok(text.includes(`href="${ofGroup}/${milestone.iid}"`));
  assert.match((await maintainer.get(pathOf(milestone))).text, /of the fair[\s\S]+#\d+ opened/);
  assert.match(
    (await maintainer.post(`${ofGroup}/${milestone.iid}/close`)).location ?? '',
    new RegExp(`${milestone.iid}$`),
  );
});

test('guests change nothing, and hidden places answer like missing ones', async () => {
  const one = pathOf(await inProject({ title: unique('kept') }));
  assert.doesNotMatch((await guest.get(one)).text, /Close milestone|\/edit"/);
  assert.doesNotMatch((await guest.get(ofProject)).text, /New milestone/);
  for (const path of [ofProject, one, `${one}/close`, `${one}/activate`, `${one}/delete`, ofGroup])
    assert.equal((await guest.post(path, { title: 'x' })).status, 403, path);
  for (const path of [`${ofProject}/new`, `${one}/edit`]) assert.equal((await guest.get(path)).status, 403);
  for (const [hidden, missing] of [
    [one, '/no/such/-/milestones/1'],
    [ofGroup, '/groups/no-such/-/milestones'],
  ] as const) {
    const [seen, other] = [await stranger.get(hidden), await stranger.get(missing)];
    assert.deepEqual([seen.status, seen.text], [404, other.text]);
    assert.match((await openVisitor(gantry).get(hidden)).location ?? '', /^\/users\/sign_in/);
  }
  assert.equal((await maintainer.get(`${ofProject}/999999`)).status, 404);
});

test('issues, merge requests, their rows and cards lead to the page of their milestone', async () => {
  const own = await seedCoded(gantry, { namespace: group.id, visibility: 'public' });
  const base = `/${own.full_path}`;
  await seedBranch(gantry, own, 'topic');
  for (const [place, title] of [
    [`/projects/${own.id}`, unique('of the project')],
    [`/groups/${group.id}`, unique('of the group')],
  ] as const) {
    const milestone = await make(place, { title });
    await seedBranch(gantry, own, title.replaceAll(' ', '-'));
    const { body: issue } = await gantry.api(`POST /projects/${own.id}/issues`, {
      json: { title: 'x', milestone_id: milestone.id },
    });
    const request = await openRequest(gantry, own, title.replaceAll(' ', '-'), {
      milestone_id: milestone.id,
    });
    const { body: board } = await gantry.api(`POST /projects/${own.id}/boards`, { json: { name: title } });
    const link = new RegExp(`<a [^>]*href="${pathOf(milestone)}"[^>]*>(?:<svg[^]*?</svg> )?${title}</a>`);
    for (const page of [
      `${base}/issues`,
      `${base}/issues/${issue.iid}`,
      `${base}/merge_requests`,
      `${base}/merge_requests/${request.iid}`,
      `${base}/-/boards/${board.id}`,
    ])
      assert.match((await maintainer.get(page)).text, link, page);
    // The page of a milestone needs an account.
    const { text } = await openVisitor(gantry).get(`${base}/issues`);
    assert.doesNotMatch(text, link);
    assert.ok(text.includes(`/issues?${new URLSearchParams({ milestone: title }).toString()}"`));
  }
});

test('shows merge requests as lists do, and the participants and labels of the issues', async () => {
  const own = await seedCoded(gantry, { namespace: group.id, visibility: 'private' });
  const ada = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const milestone = await make(`/projects/${own.id}`, { title: unique('whole') });
  const add = async (branch: string): Promise<void> => {
    await seedBranch(gantry, own, branch);
    const { iid } = await openRequest(gantry, own, branch, {
      title: `Draft: ${branch}`,
      labels: 'bug',
      milestone_id: milestone.id,
      reviewer_ids: [ada.id],
    });
    await gantry.api(`POST /projects/${own.id}/merge_requests/${iid}/approve`);
  };
  await add('one');
  await add('two');
  for (const [labels, confidential] of [
    ['bug', false],
    ['bug,ui', false],
    ['secret', true],
  ] as const)
    await gantry.api(`POST /projects/${own.id}/issues`, {
      json: { title: 'x', labels, confidential, assignee_ids: [ada.id], milestone_id: milestone.id },
    });
  await gantry.api(`PUT /projects/${own.id}/issues/1`, { json: { state_event: 'close' } });
  const path = pathOf(milestone);
  const seen = async (tab: string, visitor = maintainer): Promise<string> =>
    contentIn(await visitor.get(`${path}?tab=${tab}`));
  const requests = await seen('merge_requests');
  assert.match(requests, /aria-label="Draft"[^]+Draft: one[^]+class="label"[^]+bug[^]+1 approval/);
  assert.match(requests, new RegExp(`Reviewer: Name of ${ada.username}`));
  const labels = await seen('labels');
  assert.match(labels, /bug<\/span>[^]+labels=bug[^"]*">1 open issue, 1 closed</);
  assert.match(labels, /secret<\/span>[^]+>1 open issue, 0 closed</);
  assert.doesNotMatch(await seen('labels', guest), /secret/);
  const people = await seen('participants');
  assert.match(
    people,
    new RegExp(`Name of ${ada.username}[^]+assignee_username=${ada.username}[^"]*">2 open issues, 1 closed`),
  );
  assert.match(await seen('participants', guest), />1 open issue, 1 closed</);
  const count = async (): Promise<number> =>
    await countStatements(gantry, async () => await maintainer.get(`${path}?tab=merge_requests`));
  const before = await count();
  for (const branch of ['three', 'four']) await add(branch);
  assert.equal(await count(), before);
});

test('counts labels of a title once, and says where more than a hundred exist', async () => {
  const milestone = await make(`/groups/${group.id}`, { title: unique('wide') });
  const path = pathOf(milestone);
  const two = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const many = Array.from({ length: 99 }, (_, at) => `many-${at}`);
  const add = async (project_id: number, labels: string[]): Promise<void> => {
    const json = { title: 'x', labels: labels.join(','), milestone_id: milestone.id };
    const { status, text } = await gantry.api(`POST /projects/${project_id}/issues`, { json });
    assert.equal(status, 201, text);
  };
  const seen = async (): Promise<[string | undefined, string]> => {
    const answer = await maintainer.get(`${path}?tab=labels`);
    return [/Labels <span class="count">([^<]*)</.exec(answer.text)?.[1], contentIn(answer)];
  };
  await add(project.id, ['shared', ...many]);
  await add(two.id, ['shared']);
  const [count, text] = await seen();
  assert.equal(count, '100');
  assert.deepEqual(text.match(/shared<\/span>/g)?.length, 1);
  assert.match(text, /shared<\/span>[^]+?labels=shared[^"]*">2 open issues, 0 closed</);
  assert.doesNotMatch(text, /The first 100 are shown/);
  await add(two.id, ['one-more']);
  const [more, cut] = await seen();
  assert.equal(more, '100+');
  assert.match(cut, /The first 100 are shown/);
  assert.doesNotMatch(cut, /one-more/);
  // Other tabs do not read all issues for the counts of this one.
  assert.doesNotMatch((await maintainer.get(path)).text, /(?:Labels|Participants) <span class="count">/);
});

test('promotes a milestone of a project to its group', async () => {
  const made = await inProject({ title: 'Wide' });
  const path = pathOf(made);
  assert.match((await maintainer.get(`${path}/edit`)).text, /Promote milestone/);
  assert.equal((await guest.post(`${path}/promote`)).status, 403);
  assert.equal((await maintainer.post(`${path}/promote`)).location, ofProject);
  assert.match((await maintainer.get(ofProject)).text, /The milestone Wide was promoted to the group\./);
  const { body } = await gantry.api(`GET /groups/${group.id}/milestones?title=Wide`);
  assert.deepEqual([body.length, body[0].id], [1, made.id]);
  // Personal projects have no group.
  const own = await seedProject(gantry, { visibility: 'private' });
  const owner = await seedVisitor(gantry, { project: own.id, access_level: 40 });
  const personal = await make(`/projects/${own.id}`, { title: 'Mine' });
  assert.ok(!(await owner.visitor.get(`${pathOf(personal)}/edit`)).text.includes('Promote milestone'));
  const refused = await owner.visitor.post(`${pathOf(personal)}/promote`);
  assert.equal(refused.status, 303);
  assert.match(
    (await owner.visitor.get(refused.location ?? '')).text,
    /The project does not belong to a group/,
  );
});
