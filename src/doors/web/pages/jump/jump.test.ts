/** Tests the page behind the command palette. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  unique,
} from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { hasPage } from '../../routes.ts';

let gantry: TestService;
let id: number;
let username: string;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  ({ id, username, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

/** Addresses of the results, without those that lead to the search page and to help. */
const jump = async (q: string, place = '', as = user): Promise<string[]> => {
  const { status, text } = await as.get(`/-/jump?${new URLSearchParams({ q, place }).toString()}`);
  assert.equal(status, 200);
  const [, results = ''] = text.split('id="results"');
  return [...(results.split('</section>')[0] ?? '').matchAll(/<a href="([^"]*)"/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/^\/(?:search\?|help\b)/.test(path));
};

test('finds visible projects by a part of their name', async () => {
  const group = await seedGroup(gantry);
  const make = async (visibility: 'public' | 'internal' | 'private') =>
    (await seedProject(gantry, { namespace: group.id, visibility })).full_path;
  const [open, inner] = [await make('public'), await make('internal'), await make('private')];
  const found = await jump(group.path);
  const home = `/groups/${group.path}`;
  assert.deepEqual(found.toSorted(), [`/${open}`, `/${inner}`, home].toSorted());
  assert.deepEqual(await jump(group.path, '', openVisitor(gantry)), [`/${open}`, home]);
});

test('finds visible groups by a part of their name or path', async () => {
  const top = await seedGroup(gantry);
  const [inner, hidden] = [
    await seedGroup(gantry, { parent: top.id, path: unique('inner') }),
    await seedGroup(gantry, { parent: top.id, path: unique('inner'), visibility: 'private' }),
  ];
  const [address, secret] = [inner, hidden].map(({ full_path }) => `/groups/${full_path}`);
  const name = unique('Named');
  assert.equal((await gantry.api(`PUT /groups/${inner.id}`, { json: { name } })).status, 200);
  assert.deepEqual(await jump(inner.path.toUpperCase()), [address]);
  assert.deepEqual(await jump(name), [address]);
  assert.deepEqual(await jump(`${top.path}/inn`), [address]);
  assert.deepEqual(await jump(`${top.path}/inn`, '', openVisitor(gantry)), [address]);
  assert.deepEqual(await jump(hidden.path), []);
  await seedMember(gantry, { user: id, group: hidden.id, access_level: 10 });
  assert.deepEqual(await jump(hidden.path), [secret]);
  for (let at = 0; at < 5; at += 1) await seedGroup(gantry, { parent: top.id });
  assert.equal((await jump(`${top.path}/`)).length, 4);
});

test('finds issues and merge requests of the current project', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const word = unique('title');
  const issue = await seedIssue(gantry, { project: project.id, title: `<b>${word}` });
  const secret = await seedIssue(gantry, { project: project.id, title: `${word} secret`, confidential: 1 });
  const request = await seedMergeRequest(gantry, { project: project.id, title: word });
  const place = `/${project.full_path}`;
  assert.deepEqual(await jump(`#${issue.iid}`, place), [`${place}/issues/${issue.iid}`]);
  assert.deepEqual(await jump(`#${word}`, place), [`${place}/issues/${issue.iid}`]);
  assert.deepEqual(await jump(`#${secret.iid}`, place), []);
  assert.deepEqual(await jump(`!${request.iid}`, place), [`${place}/merge_requests/${request.iid}`]);
  const anonymous = openVisitor(gantry);
  assert.deepEqual(await jump(`#${word}`, place, anonymous), [`${place}/issues/${issue.iid}`]);
  assert.deepEqual(await jump(`#${secret.iid}`, place, anonymous), []);
  assert.deepEqual(await jump(`!${word}`, place, anonymous), [`${place}/merge_requests/${request.iid}`]);
  const { text } = await user.get(`/-/jump?q=%23${word}&place=${place}`);
  assert.equal(text.includes('<b>title'), false);
});

test('finds issues and merge requests of a project that is named, from any page', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const here = await seedProject(gantry, { visibility: 'public' });
  const [path, secret] = [`/${project.full_path}`, `/${hidden.full_path}`];
  const issue = await seedIssue(gantry, { project: project.id, title: 'Named' });
  const request = await seedMergeRequest(gantry, { project: project.id });
  const other = await seedIssue(gantry, { project: hidden.id });
  await seedIssue(gantry, { project: here.id });
  for (const place of ['', '/groups/any', `/${here.full_path}`]) {
    assert.deepEqual(await jump(`${project.full_path}#${issue.iid}`, place), [`${path}/issues/${issue.iid}`]);
    assert.deepEqual(await jump(`${path}#named`, place), [`${path}/issues/${issue.iid}`]);
    assert.deepEqual(await jump(`${project.full_path}!${request.iid}`, place), [
      `${path}/merge_requests/${request.iid}`,
    ]);
    assert.deepEqual(await jump(`${hidden.full_path}#${other.iid}`, place), []);
  }
  await seedMember(gantry, { user: id, project: hidden.id, access_level: 20 });
  assert.deepEqual(await jump(`${hidden.full_path}#${other.iid}`), [`${secret}/issues/${other.iid}`]);
});

test("finds the user's own issues and merge requests where no project is open", async () => {
  const visitor = await seedVisitor(gantry);
  const [project, hidden] = [
    await seedProject(gantry, { visibility: 'public' }),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  const own = { project: project.id, author: visitor.id };
  const theirs = { project: project.id, assignees: [visitor.id] };
  const created = await seedIssue(gantry, { ...own, title: 'Created <b>one' });
  const assigned = await seedIssue(gantry, { ...theirs, title: 'Assigned one', state: 'closed' });
  await seedIssue(gantry, { project: project.id, title: 'Nobody’s one' });
  await seedIssue(gantry, { project: hidden.id, assignees: [visitor.id], title: 'Hidden one' });
  const request = await seedMergeRequest(gantry, { ...theirs, title: 'To merge' });
  const issues = `/${project.full_path}/issues`;
  const find = async (q: string): Promise<string[]> => await jump(q, '/groups/any', visitor.visitor);
  assert.deepEqual(await find(`#${created.iid}`), [`${issues}/${created.iid}`]);
  assert.deepEqual(await find(`#${assigned.iid}`), [`${issues}/${assigned.iid}`]);
  const both = [`${issues}/${created.iid}`, `${issues}/${assigned.iid}`];
  for (const q of ['#', '#one']) assert.deepEqual((await find(q)).toSorted(), both.toSorted(), q);
  assert.deepEqual(await find(`!${request.iid}`), [`/${project.full_path}/merge_requests/${request.iid}`]);
  assert.deepEqual(await jump('#', '', openVisitor(gantry)), []);
  for (const visitorOf of [visitor.visitor, openVisitor(gantry)]) {
    const { text } = await visitorOf.get('/-/jump?q=%23loads');
    assert.match(text, /href="\/search\?search=%23loads"/);
  }
});

test('finds files of the current project, for those who may read code', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const files = { 'src/span planner.ts': 'x\n', 'docs/planner.md': 'x\n', 'README.md': 'x\n' };
  await seedCommit(gantry, project.id, files);
  const place = `/${project.full_path}`;
  assert.deepEqual(await jump('planner', place), [], 'hidden');
  await seedMember(gantry, { user: id, project: project.id, access_level: 20 });
  const expected = hasPage('GET /-/projects/:project/blob/:rest')
    ? [`${place}/-/blob/main/docs/planner.md`, `${place}/-/blob/main/src/span%20planner.ts`]
    : [];
  assert.deepEqual(await jump('planner', place), expected);
});

test('finds users, for those who have signed in', async () => {
  assert.ok((await jump(`@${username}`)).includes(`/${username}`));
  assert.ok((await jump(username)).includes(`/${username}`));
  assert.deepEqual(await jump(`@${username}`, '', openVisitor(gantry)), []);
});

test('finds pages by their name, and none that the viewer may not open', async () => {
  const project = await seedProject(gantry, { visibility: 'public', owner: id });
  assert.ok((await jump('new proj')).includes('/projects/new'));
  assert.ok(
    (await jump('environments', `/${project.full_path}`)).includes(`/${project.full_path}/-/environments`),
  );
  assert.equal((await jump('administration')).includes('/admin'), false);
  assert.deepEqual(await jump('audit log'), []);
  const { visitor: admin } = await seedVisitor(gantry, { admin: 1 });
  assert.ok((await jump('administration', '', admin)).includes('/admin'));
  assert.deepEqual(await jump('audit log', '', admin), ['/admin/audit_events']);
  const start = await jump('');
  for (const path of start.filter((one) => !one.includes('/issues/'))) {
    assert.notEqual((await user.get(path)).status, 404, path);
  }
});

test('finds the pages about code, once there is some, for those who may read it', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const place = `/${project.full_path}`;
  await seedMember(gantry, { user: id, project: project.id, access_level: 20 });
  const pages = { commits: 'commits', branches: 'branches', tags: 'tags', compare: 'compare' };
  const found = { ...pages, files: 'tree', contributors: 'graphs', activity: 'activity' };
  for (const word of Object.keys(pages)) assert.deepEqual(await jump(word, place), [], word);
  assert.deepEqual(await jump('activity', place), [`${place}/-/activity`, '/dashboard/activity']);
  await seedCommit(gantry, project.id, { 'README.md': 'x\n' });
  for (const [word, noun] of Object.entries(found)) {
    const bare = ['tree', 'compare'].includes(noun);
    const path = `${place}${bare ? '' : '/-'}/${noun}`;
    assert.ok((await jump(word, place)).includes(path), word);
    assert.equal((await user.get(path)).status, 200, path);
  }
  const { visitor: guest } = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  assert.deepEqual(await jump('branches', place, guest), []);
});

test('offers the forms of the current project that the viewer may fill', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const place = `/${project.full_path}`;
  const forms = async (as = user): Promise<string[]> =>
    (await jump('new', place, as)).filter((path) => path.startsWith(place));
  assert.deepEqual(await forms(), [`${place}/issues/new`]);
  assert.deepEqual(await forms(openVisitor(gantry)), []);
  await seedCommit(gantry, project.id, { a: 'x\n' });
  await seedMember(gantry, { user: id, project: project.id, access_level: 30 });
  const all = {
    issue: `${place}/issues/new`,
    merge: `${place}/merge_requests/new`,
    file: `${place}/-/new/main`,
    branch: `${place}/-/branches/new`,
    tag: `${place}/-/tags/new`,
    pipeline: `${place}/-/pipelines/new`,
    snippet: `${place}/snippets/new`,
    release: `${place}/-/releases/new`,
    label: `${place}/-/labels/new`,
    milestone: `${place}/-/milestones/new`,
    board: `${place}/-/boards/new`,
    schedule: `${place}/-/pipeline_schedules#new`,
    fork: `${place}/-/forks/new`,
  };
  for (const [word, path] of Object.entries(all)) {
    const found = await jump(word === 'fork' ? word : `new ${word}`, place);
    assert.ok(found.includes(path), `${word}: ${found.join(' ')}`);
    assert.equal((await user.get(path.split('#')[0] ?? '')).status, 200, path);
  }
});

/** The actions of the results: address, and fields without the token. */
const actions = async (q: string, place = '', as = user): Promise<[string, Record<string, string>][]> => {
  const { text } = await as.get(`/-/jump?${new URLSearchParams({ q, place }).toString()}`);
  const [, results = ''] = text.split('id="results"');
  return [...results.matchAll(/<form method="post" action="([^"]+)">(.*?)<button>/gs)].map(
    ([, action = '', fields = '']) => [
      action,
      Object.fromEntries(
        [...fields.matchAll(/name="([^"]+)" value="([^"]*)"/g)]
          .map(([, name = '', value = '']) => [name, value])
          .filter(([name]) => name !== 'authenticity_token'),
      ) as Record<string, string>,
    ],
  );
};

test('changes star, notification level, color scheme and session by forms', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const place = `/${project.full_path}`;
  const { visitor } = await seedVisitor(gantry);
  for (const word of ['star', 'unstar']) {
    const [[action, fields] = ['', {}]] = await actions('star project', place, visitor);
    assert.equal(action, `${place}/-/${word}`);
    assert.equal((await visitor.post(action, fields)).location, place);
  }
  assert.deepEqual(await actions('star project', '', visitor), []);
  const [[level, chosen] = ['', {}]] = await actions('level watch', place, visitor);
  assert.deepEqual([level, chosen['level']], [`${place}/-/notification_setting`, 'watch']);
  assert.equal((await visitor.post(level, chosen)).location, place);
  assert.match((await visitor.get(place)).text, /<span>Watch<\/span> <span class="count">1</);
  const group = await seedGroup(gantry, { visibility: 'public' });
  const home = `/groups/${group.full_path}`;
  const [[groupLevel, form] = ['', {}]] = await actions('level watch', home, visitor);
  assert.deepEqual([groupLevel, form['return_to']], [`${home}/-/notification_setting`, home]);
  const below = `${home}/-/labels`;
  assert.equal((await visitor.post(groupLevel, { ...form, return_to: below })).location, below);
  const [[scheme, dark] = ['', {}]] = await actions('color dark', place, visitor);
  assert.deepEqual([scheme, dark], ['/-/preferences', { scheme: 'dark', return_to: place }]);
  assert.equal((await visitor.post(scheme, dark)).location, place);
  assert.match((await visitor.get('/')).text, /<html lang="en" data-scheme="dark">/);
  assert.deepEqual(
    (await actions('color scheme', '', openVisitor(gantry))).map(([, { scheme: one }]) => one),
    ['light', 'dark'],
  );
  assert.deepEqual(await actions('level watch', place, openVisitor(gantry)), []);
  assert.deepEqual(await actions('', place, visitor), []);
  const [[out] = ['']] = await actions('sign out', '', visitor);
  assert.equal((await visitor.post(out)).status, 303);
  assert.equal((await visitor.get('/profile')).status, 302);
});

test('finds the pages and forms of the current group', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const place = `/groups/${group.full_path}`;
  assert.deepEqual(await jump('milestones', place), [], 'hidden');
  const { visitor: owner } = await seedVisitor(gantry, { group: group.id, access_level: 50 });
  const found = {
    milestones: `${place}/-/milestones`,
    members: `${place}/-/group_members`,
    webhooks: `${place}/-/hooks`,
    'new project': `/projects/new?namespace_id=${group.id}`,
    'new subgroup': `/groups/new?parent_id=${group.id}`,
    'new label': `${place}/-/labels/new`,
    'new milestone': `${place}/-/milestones/new`,
    'new board': `${place}/-/boards/new`,
  };
  for (const [word, path] of Object.entries(found)) {
    assert.ok((await jump(word, place, owner)).includes(path), word);
    assert.equal((await owner.get(path)).status, 200, path);
  }
  const { visitor: guest } = await seedVisitor(gantry, { group: group.id, access_level: 10 });
  assert.deepEqual(await jump('webhooks', place, guest), []);
  assert.deepEqual(await jump('new label', place, guest), []);
  const [[level] = ['']] = await actions('level watch', place, guest);
  assert.equal((await guest.post(level, { level: 'watch' })).location, place);
  assert.match(
    (await owner.get(`/-/jump?q=x&place=${place}`)).text,
    new RegExp(`search=x&amp;group_id=${group.id}`),
  );
});

test('finds all pages of the account', async () => {
  const { text } = await user.get('/profile');
  const [, nav = ''] = text.split('aria-label="Your account"');
  const links = [...(nav.split('</nav>')[0] ?? '').matchAll(/href="([^"]+)">([^<]+)</g)];
  assert.ok(links.length > 10);
  for (const [, path = '', name = ''] of links)
    assert.ok((await jump(`account settings ${name}`)).includes(path), name);
});

test('answers any words, in any place', async () => {
  for (const [q, place] of [
    ['%_\\', '/groups/x'],
    ['#', '/no/project'],
    ['!', '/'],
    ['@', 'x/y'],
    ['#99999999999999999999', '/a/b'],
  ]) {
    await jump(q ?? '', place);
  }
  assert.equal((await user.get(`/-/jump?q=${'x'.repeat(201)}`)).status, 400);
});
