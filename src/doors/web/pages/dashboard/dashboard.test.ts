/** Tests the start page, the lists of own work, and the counters of the top bar. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  unique,
} from '../../../../../test/support/seed.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let visitor: Visitor;
let id: number;
before(async () => {
  gantry = await startTestService();
  ({ id, visitor } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

/** Counts of the top bar: issues, merge requests, todos. */
const counters = (text: string): (string | undefined)[] =>
  ['Assigned issues', 'Merge requests', 'To-do list'].map(
    (name) => new RegExp(`aria-label="${name}: ([^"]+)"`).exec(text)?.[1],
  );

test('every link of the start page leads to a page that the viewer can open', async () => {
  const own = await seedProject(gantry, { visibility: 'private', owner: id });
  const hidden = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: id, project: hidden.id, access_level: 10 });
  await seedIssue(gantry, { project: own.id, assignees: [id] });
  const { text } = await visitor.get('/');
  const links = [...text.matchAll(/href="(\/[^"#]*)"/g)].map(([, path = '']) =>
    path.replaceAll('&amp;', '&'),
  );
  for (const { full_path } of [own, hidden]) assert.ok(links.includes(`/${full_path}`), full_path);
  const served = links.filter((path) => !/\/issues\/\d+$/.test(path));
  for (const path of new Set(served)) assert.notEqual((await visitor.get(path)).status, 404, path);
});

test('shows the work that waits, and counts it in the top bar', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'public' });
  const other = await seedProject(gantry, { visibility: 'private' });
  await seedIssue(gantry, { project: project.id, assignees: [user.id], title: 'Fix <b>spans</b>' });
  await seedIssue(gantry, { project: project.id, assignees: [user.id], state: 'closed' });
  await seedIssue(gantry, { project: other.id, assignees: [user.id], title: 'Hidden from them' });
  await seedMergeRequest(gantry, { project: project.id, assignees: [user.id], title: 'Mine to merge' });
  const reviewed = await seedMergeRequest(gantry, { project: project.id, title: 'Mine to review' });
  const empty = await user.visitor.get('/dashboard/merge_requests');
  assert.deepEqual(counters(empty.text), ['1', '1', '0']);
  const sent = await gantry.api(`PUT /projects/${project.id}/merge_requests/${reviewed.iid}`, {
    json: { reviewer_ids: [user.id] },
  });
  assert.equal(sent.status, 200, sent.text);
  const { text } = await user.visitor.get('/');
  assert.deepEqual(counters(text), ['1', '2', '1']);
  for (const part of [
    'Waiting for your review',
    'Mine to review',
    'Mine to merge',
    'Fix &lt;b&gt;spans&lt;/b&gt;',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.equal(text.includes('Hidden from them'), false);
  const list = await user.visitor.get('/dashboard/merge_requests?scope=assigned-to-me');
  assert.deepEqual(
    [list.text.includes('Mine to merge'), list.text.includes('Mine to review')],
    [true, false],
  );
  const issues = await user.visitor.get('/dashboard/issues');
  assert.deepEqual([issues.status, issues.text.includes('Hidden from them')], [200, false]);
  assert.ok(issues.text.includes('Fix &lt;b&gt;spans&lt;/b&gt;'));
  const created = await user.visitor.get('/dashboard/issues?scope=created-by-me');
  assert.equal(created.text.includes('Fix &lt;b&gt;'), false);
});

test('cards show labels, and what keeps a merge request from being merged', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'public' });
  await gantry.api(`POST /projects/${project.id}/labels`, { json: { name: 'urgent', color: '#cc3300' } });
  const { iid } = await seedIssue(gantry, { project: project.id, assignees: [user.id] });
  const request = await seedMergeRequest(gantry, { project: project.id, assignees: [user.id] });
  await gantry.api(`PUT /projects/${project.id}/issues/${iid}`, { json: { labels: 'urgent' } });
  const path = `/projects/${project.id}/merge_requests/${request.iid}`;
  await gantry.api(`PUT ${path}`, { json: { labels: 'urgent' } });
  await gantry.api(`POST ${path}/discussions`, { json: { body: 'Why?' } });
  const { text } = await user.visitor.get('/');
  assert.match(text, /href="\/dashboard\/issues\?labels=urgent"/);
  assert.match(text, /href="\/dashboard\/merge_requests\?labels=urgent"[^]*1 open thread/);
});

test('forgets at once what the user may no longer see', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'private' });
  await gantry.api(`POST /projects/${project.id}/members`, { json: { user_id: user.id, access_level: 30 } });
  await seedIssue(gantry, { project: project.id, assignees: [user.id] });
  const before = await user.visitor.get('/');
  assert.deepEqual([before.text.includes(project.full_path), counters(before.text)[0]], [true, '1']);
  await gantry.api(`DELETE /projects/${project.id}/members/${user.id}`);
  const later = await user.visitor.get('/');
  assert.deepEqual([later.text.includes(project.full_path), counters(later.text)[0]], [false, '0']);
});

test('shows the state of the last pipeline only to those who may see pipelines', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
  const guestOf = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: user.id, project: guestOf.id, access_level: 10 });
  await gantry.api(`PUT /projects/${guestOf.id}`, { json: { public_jobs: false } });
  for (const { id: project_id } of [project, guestOf]) {
    const times = { created_at: 0, updated_at: 0, started_at: null, finished_at: null, duration: null };
    const none = {
      user_id: null,
      merge_request_id: null,
      name: null,
      yaml_errors: null,
      failure_reason: null,
    };
    const links = { source_pipeline_id: null, source_job_id: null, root_id: null, schedule_id: null };
    const sha = 'a'.repeat(40);
    const flags = { tag: 0, protected: 0 } as const;
    const facts = { ref: 'main', sha, before_sha: sha, status: 'failed', source: 'push' } as const;
    await gantry.service.platform.store.write(
      async (tx) =>
        await tx.db
          .insertInto('pipelines')
          .values({ project_id, iid: 1, ...facts, ...flags, ...times, ...none, ...links })
          .execute(),
    );
  }
  for (const path of ['/', '/dashboard/projects']) {
    const { text } = await user.visitor.get(path);
    assert.ok(text.includes(`href="/${project.full_path}/-/pipelines/`), path);
    assert.equal(text.includes(`href="/${guestOf.full_path}/-/pipelines/`), false, path);
  }
});

/** Commits to a branch over the API, as a user. */
const commitAs = async (user: number, project: number, branch: string, start?: string): Promise<string> => {
  const actions = [{ action: 'create', file_path: unique('file'), content: 'x' }];
  const json = { branch, commit_message: 'x', actions, ...(start !== undefined && { start_branch: start }) };
  const { status, body, text } = await gantry.api(
    `POST /projects/${project}/repository/commits?sudo=${user}`,
    { json },
  );
  assert.equal(status, 201, text);
  return (body as { id: string }).id;
};

const requestOf = (branch: string): string => `merge_request%5Bsource_branch%5D=${branch}"`;

test('offers a merge request for branches that the user pushed, until there is one', async () => {
  const user = await seedVisitor(gantry);
  const other = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedCommit(gantry, project.id, { a: 'x\n' });
  for (const one of [user, other])
    await seedMember(gantry, { user: one.id, project: project.id, access_level: 40 });
  assert.ok(!(await user.visitor.get('/')).text.includes('Recent pushes'));
  await commitAs(user.id, project.id, 'one', 'main');
  await commitAs(user.id, project.id, 'two', 'main');
  await commitAs(user.id, project.id, 'gone', 'main');
  await commitAs(other.id, project.id, 'theirs', 'main');
  await commitAs(user.id, project.id, 'main');
  await gantry.api(`DELETE /projects/${project.id}/repository/branches/gone`);
  const before = (await user.visitor.get('/')).text;
  assert.ok(before.includes('Recent pushes'));
  for (const branch of ['one', 'two']) assert.ok(before.includes(requestOf(branch)), branch);
  for (const branch of ['gone', 'theirs', 'main']) assert.ok(!before.includes(requestOf(branch)), branch);
  const json = { source_branch: 'one', target_branch: 'main', title: 'One' };
  const { body } = await gantry.api(`POST /projects/${project.id}/merge_requests`, { json });
  const open = (await user.visitor.get('/')).text;
  assert.ok(!open.includes(requestOf('one')));
  assert.match(open, new RegExp(`href="/${project.full_path}/merge_requests/${body.iid}"`));
  await gantry.api(`PUT /projects/${project.id}/merge_requests/${body.iid}`, {
    json: { state_event: 'close' },
  });
  assert.ok(!(await user.visitor.get('/')).text.includes(requestOf('one')), 'declined');
  await commitAs(user.id, project.id, 'one');
  assert.ok((await user.visitor.get('/')).text.includes(requestOf('one')), 'pushed again');
  await gantry.api(`DELETE /projects/${project.id}/members/${user.id}`);
  assert.ok(!(await user.visitor.get('/')).text.includes('Recent pushes'), 'hidden now');
});

test('shows the role of the user in each recent project', async () => {
  const user = await seedVisitor(gantry);
  const group = await seedGroup(gantry);
  const inherited = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: user.id, group: group.id, access_level: 20 });
  const direct = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: user.id, project: direct.id, access_level: 40 });
  const own = await seedProject(gantry, { visibility: 'private', owner: user.id });
  const { text } = await user.visitor.get('/');
  for (const [project, role] of [
    [inherited, 'Reporter'],
    [direct, 'Maintainer'],
    [own, 'Owner'],
  ] as const)
    assert.match(
      text,
      new RegExp(`href="/${project.full_path}"[^]*?<span class="meta"><span>${role}</span>`),
    );
});

test('lists own and starred projects', async () => {
  const user = await seedVisitor(gantry);
  const [own, starred] = [
    await seedProject(gantry, { owner: user.id, visibility: 'private' }),
    await seedProject(gantry, { visibility: 'public' }),
  ];
  await user.visitor.get(`/${starred.full_path}`);
  await user.visitor.post(`/${starred.full_path}/-/star`);
  const listed = async (path: string) => {
    const { text } = await user.visitor.get(path);
    return [own, starred].map(({ full_path }) => text.includes(`href="/${full_path}"`));
  };
  assert.deepEqual(await listed('/dashboard/projects'), [true, false]);
  assert.deepEqual(await listed('/dashboard/starred'), [false, true]);
  assert.deepEqual(await listed(`/dashboard/projects?search=${starred.path}`), [false, false]);
});

test('the uploaded picture of a project is shown where it is chosen', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { owner: user.id });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  await user.visitor.get(`/${project.full_path}/-/settings`);
  const file = { name: 'a.png', content: Uint8Array.from(png) };
  await user.visitor.postFiles(`/${project.full_path}/-/settings/avatar`, {}, { avatar: file });
  const { avatar_url } = (await gantry.api(`GET /projects/${project.id}`)).body;
  assert.ok(avatar_url);
  for (const path of ['/', '/dashboard/projects', '/dashboard/issues/new'])
    assert.ok((await user.visitor.get(path)).text.includes(`square" src="${avatar_url}"`), path);
});

test('the lists of own projects lead to the import of one', async () => {
  const user = await seedVisitor(gantry);
  for (const path of ['/dashboard/projects', '/dashboard/starred'])
    assert.ok((await user.visitor.get(path)).text.includes('href="/projects/import"'), path);
});

test('own projects show role and open work, and are filtered by visibility and archive', async () => {
  const user = await seedVisitor(gantry);
  const own = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  const open = await seedProject(gantry, { visibility: 'public' });
  await seedMember(gantry, { user: user.id, project: open.id, access_level: 30 });
  await seedIssue(gantry, { project: open.id });
  await gantry.api(`POST /projects/${own.id}/archive`);
  const read = async (query = ''): Promise<string> =>
    (await user.visitor.get(`/dashboard/projects?${query}`)).text;
  const listed = async (query: string) => {
    const text = await read(query);
    return [own, open].map(({ full_path }) => text.includes(`class="title" href="/${full_path}"`));
  };
  const text = await read();
  assert.match(text, />Developer<[^]*title="Open issues">[^]*?1<[^]*title="Open merge requests">[^]*?0</);
  assert.deepEqual(await listed('visibility=private'), [true, false]);
  assert.deepEqual(await listed('archived=without'), [false, true]);
  assert.deepEqual(await listed('archived=only&visibility='), [true, false]);
  assert.deepEqual(await listed('archived=only&visibility=public'), [false, false]);
});

test('starring leads back to the page of the form', async () => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'public' });
  const path = `/${project.full_path}/issues?state=closed`;
  const { text } = await user.visitor.get(path);
  assert.ok(text.includes(`name="return_to" value="${path}"`));
  for (const [word, form] of [
    ['star', {}],
    ['notification_setting', { level: 'watch' }],
  ] as const) {
    const sent = { ...form, return_to: path };
    const { location } = await user.visitor.post(`/${project.full_path}/-/${word}`, sent);
    assert.equal(location, path, word);
  }
});

test('explores public and internal projects', async () => {
  const group = await seedGroup(gantry);
  const make = async (visibility: 'public' | 'internal' | 'private') =>
    await seedProject(gantry, { namespace: group.id, visibility });
  const projects = [await make('public'), await make('internal'), await make('private')];
  await gantry.api(`PUT /projects/${projects[0]?.id}`, { json: { topics: ['a "topic"'] } });
  const listed = async (as: Visitor, query = '') => {
    const { status, text } = await as.get(`/explore?search=${group.path}${query}`);
    assert.equal(status, 200);
    return projects.map(({ full_path }) => text.includes(`href="/${full_path}"`));
  };
  assert.deepEqual(await listed(openVisitor(gantry)), [true, false, false]);
  assert.deepEqual(await listed(visitor), [true, true, false]);
  assert.deepEqual(await listed(visitor, `&topic=${encodeURIComponent('A "topic"')}`), [true, false, false]);
  assert.deepEqual(await listed(visitor, '&page=2&per_page=2&sort=name_asc'), [false, false, false]);
  for (const query of ['sort=x', 'page=x', 'per_page=0']) {
    assert.equal((await visitor.get(`/explore?${query}`)).status, 400, query);
  }
});

test('own work is for those who have signed in', async () => {
  const anonymous = openVisitor(gantry);
  for (const name of ['issues', 'merge_requests', 'todos', 'projects', 'starred']) {
    assert.match((await anonymous.get(`/dashboard/${name}`)).location ?? '', /^\/users\/sign_in/, name);
  }
  assert.equal((await anonymous.get('/')).location, '/users/sign_in');
  assert.deepEqual(counters((await anonymous.get('/explore')).text), [undefined, undefined, undefined]);
});
