/** Answers that are kept in memory show every change at once, and to nobody what another user sees. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededGroup,
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../support/seed.ts';
import {
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let project: SeededProject;
let member: SeededUser;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  [member, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: member.id, group: group.id, access_level: 30 });
});
after(async () => await gantry.close());

/** Reads twice, so that the second answer may come from memory; both must be the same. */
const read = async (path: string, as = member.token) => {
  const first = await gantry.api(`GET ${path}`, { as });
  const second = await gantry.api(`GET ${path}`, { as });
  assert.deepEqual([second.status, second.body], [first.status, first.body], path);
  for (const name of ['x-total', 'etag', 'link'])
    assert.equal(second.headers.get(name), first.headers.get(name));
  return second;
};

const put = async (path: string, json: object): Promise<void> =>
  assert.ok((await gantry.api(`PUT ${path}`, { json })).status < 300, path);

test('projects', async () => {
  const path = `/projects?search=${project.path}`;
  const shown = async (as?: string) => (await read(path, as)).body[0];
  assert.equal((await shown()).id, project.id);
  assert.equal(await shown(stranger.token), undefined);
  await put(`/projects/${project.id}`, { description: 'Other' });
  assert.equal((await shown()).description, 'Other');
  await put(`/groups/${group.id}`, { name: 'Renamed group' });
  assert.equal((await shown()).namespace.name, 'Renamed group');
  const { open_issues_count } = await shown();
  await seedIssue(gantry, { project: project.id });
  assert.equal((await shown()).open_issues_count, open_issues_count + 1);
  await gantry.api(`POST /projects/${project.id}/star`, { as: member.token });
  assert.equal((await shown()).star_count, 1);
  await seedMember(gantry, { user: stranger.id, project: project.id, access_level: 10 });
  assert.equal((await shown(stranger.token)).permissions.project_access.access_level, 10);
  await gantry.api(`DELETE /projects/${project.id}/members/${stranger.id}`);
  assert.equal(await shown(stranger.token), undefined);
});

test('labels', async () => {
  const path = `/projects/${project.id}/labels`;
  const made = await gantry.api(`POST ${path}`, { json: { name: 'first', color: '#fff' } });
  const [label] = (await read(path)).body;
  assert.deepEqual([label.name, label.open_issues_count, label.subscribed], ['first', 0, false]);
  await seedIssue(gantry, { project: project.id, labels: [made.body.id] });
  assert.equal((await read(path)).body[0].open_issues_count, 1);
  await gantry.api(`POST ${path}/${made.body.id}/subscribe`, { as: member.token });
  assert.equal((await read(path)).body[0].subscribed, true);
  await put(path, { name: 'first', new_name: 'renamed' });
  assert.equal((await read(path)).body[0].name, 'renamed');
  assert.equal((await read(path, stranger.token)).status, 404);
});

test('discussions of an issue', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const path = `/projects/${project.id}/issues/${iid}`;
  assert.deepEqual((await read(`${path}/discussions`)).body, []);
  const note = await gantry.api(`POST ${path}/notes`, { as: member.token, json: { body: 'One' } });
  assert.equal((await read(`${path}/discussions`)).body[0].notes[0].body, 'One');
  await gantry.api(`PUT ${path}/notes/${note.body.id}`, { as: member.token, json: { body: 'Two' } });
  assert.equal((await read(`${path}/discussions`)).body[0].notes[0].body, 'Two');
  await put(`/users/${member.id}`, { name: 'Another Name' });
  assert.equal((await read(`${path}/discussions`)).body[0].notes[0].author.name, 'Another Name');
  await put(path, { confidential: true });
  assert.equal((await read(`${path}/discussions`)).status, 200);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 10 });
  assert.equal((await read(`${path}/discussions`)).status, 404);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 30 });
});

test('issues of all projects, of a group and of a project', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id, assignees: [member.id] });
  const one = `/projects/${project.id}/issues/${iid}`;
  for (const path of [
    '/issues?scope=assigned_to_me',
    `/groups/${group.id}/issues?assignee_id=${member.id}`,
    `/projects/${project.id}/issues?assignee_id=${member.id}`,
  ]) {
    const titles = async () => (await read(path)).body.map(({ title }: { title: string }) => title);
    await put(one, { title: `Title for ${path}` });
    assert.deepEqual(await titles(), [`Title for ${path}`]);
    await put(one, { assignee_ids: [0] });
    assert.deepEqual(await titles(), []);
    await put(one, { assignee_ids: [member.id] });
    assert.deepEqual(await titles(), [`Title for ${path}`]);
    await put('/application/settings', { gravatar_enabled: false });
    assert.equal((await read(path)).body[0].assignees[0].avatar_url, null);
    await put('/application/settings', { gravatar_enabled: true });
    assert.notEqual((await read(path)).body[0].assignees[0].avatar_url, null);
  }
});

test('issues of a project with what they show of other records', async () => {
  const own = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const { iid } = await seedIssue(gantry, { project: own.id });
  const path = `/projects/${own.id}/issues`;
  const shown = async () => (await read(path)).body[0];
  const milestone = await gantry.api(`POST /projects/${own.id}/milestones`, { json: { title: 'v1' } });
  await put(`${path}/${iid}`, { labels: 'one', milestone_id: milestone.body.id });
  assert.deepEqual([(await shown()).labels, (await shown()).milestone.title], [['one'], 'v1']);
  await put(`/projects/${own.id}/labels`, { name: 'one', new_name: 'two' });
  await put(`/projects/${own.id}/milestones/${milestone.body.id}`, { title: 'v2' });
  assert.deepEqual([(await shown()).labels, (await shown()).milestone.title], [['two'], 'v2']);
  await gantry.api(`POST ${path}/${iid}/award_emoji`, { as: member.token, json: { name: 'thumbsup' } });
  assert.equal((await shown()).upvotes, 1);
  await gantry.api(`POST ${path}/${iid}/notes`, { json: { body: 'One' } });
  assert.equal((await shown()).user_notes_count, 1);
  assert.equal((await read(path, stranger.token)).status, 404);
  await put(`/projects/${own.id}`, { issues_access_level: 'disabled' });
  assert.deepEqual((await read(path)).body, []);
  await put(`/projects/${own.id}`, { issues_access_level: 'enabled' });
  await put(`${path}/${iid}`, { confidential: true });
  assert.equal((await read(path)).body.length, 1);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 10 });
  assert.deepEqual((await read(path)).body, []);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 30 });
  assert.equal((await gantry.api(`DELETE ${path}/${iid}`)).status, 204);
  assert.deepEqual((await read(path)).body, []);
});

test('a project by its path, and by its id', async () => {
  const own = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const byPath = (path: string): string => `/projects/${encodeURIComponent(`${group.path}/${path}`)}`;
  assert.equal((await read(byPath(own.path))).body.id, own.id);
  await put(`/projects/${own.id}`, { path: `${own.path}-moved`, description: 'Moved' });
  assert.equal((await read(byPath(`${own.path}-moved`))).body.description, 'Moved');
  assert.equal((await read(byPath(own.path))).body.description, 'Moved');
  assert.equal((await read(`/projects/${own.id}`)).body.path, `${own.path}-moved`);
  await gantry.api(`DELETE /projects/${own.id}`);
  for (const path of [`/projects/${own.id}`, byPath(own.path), byPath(`${own.path}-moved`)])
    assert.equal((await read(path)).status, 404);
});

test('users', async () => {
  const user = await seedUser(gantry);
  const list = `/users?username=${user.username}`;
  const own = async () => (await gantry.api('GET /user', { as: user.token })).body;
  // The first call of a user changes when they were last active.
  assert.equal((await own()).can_create_project, true);
  assert.equal((await own()).can_create_project, true);
  await put(`/users/${user.id}`, { bio: 'Other', projects_limit: 0 });
  const { bio, can_create_project } = await own();
  assert.deepEqual([bio, can_create_project], ['Other', false]);
  assert.equal((await read('/user', member.token)).body.id, member.id);
  assert.equal((await read(list)).body[0].state, 'active');
  assert.equal((await gantry.api(`POST /users/${user.id}/block`)).status, 201);
  assert.equal((await read(list)).body[0].state, 'blocked');
  assert.equal((await read('/user', user.token)).status, 403);
});

test('merge requests, with what they show of other records', async () => {
  const own = await seedCoded(gantry, { namespace: group.id, visibility: 'private' });
  await seedBranch(gantry, own, 'topic');
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 40 });
  const request = await openRequest(gantry, own, 'topic');
  const path = toPath(request);
  await settle(gantry);
  const milestone = await gantry.api(`POST /projects/${own.id}/milestones`, { json: { title: 'v1' } });
  await put(path, { milestone_id: milestone.body.id });
  const lists = [
    `/projects/${own.id}/merge_requests`,
    `/groups/${group.id}/merge_requests?source_branch=topic`,
    `/merge_requests?scope=all&source_branch=topic`,
    `/projects/${own.id}/milestones/${milestone.body.id}/merge_requests`,
  ];
  const changes: [() => Promise<unknown>, (shown: Request) => unknown, unknown][] = [
    [() => put(path, { labels: 'one' }), ({ labels }) => labels[0], 'one'],
    [
      () => put(`/projects/${own.id}/labels`, { name: 'one', new_name: 'two' }),
      ({ labels }) => labels[0],
      'two',
    ],
    [() => put(path, { reviewer_ids: [member.id] }), ({ reviewers }) => reviewers[0]?.id, member.id],
    [() => put(path, { title: 'Draft: Other' }), ({ draft }) => draft, true],
    [() => put(path, { title: 'Other', squash: true }), ({ squash }) => squash, true],
    [
      () => gantry.api(`POST ${path}/notes`, { json: { body: 'One' } }),
      ({ user_notes_count }) => user_notes_count,
      1,
    ],
    [() => seedBranch(gantry, own, 'topic', { files: { c: '2' } }), ({ sha }) => sha, 'the new head'],
    [() => put(path, { state_event: 'close' }), ({ state }) => state, 'closed'],
  ];
  for (const list of lists) assert.equal((await read(list)).body.length, 1, list);
  for (const [change, show, expected] of changes) {
    const result = await change();
    await settle(gantry);
    for (const list of lists) {
      const wanted = expected === 'the new head' ? result : expected;
      assert.deepEqual(show((await read(list)).body[0]), wanted, list);
    }
  }
  const approved = `/projects/${own.id}/merge_requests?approved_by_ids[]=${member.id}`;
  assert.deepEqual((await read(approved)).body, []);
  await put(path, { state_event: 'reopen' });
  assert.equal((await gantry.api(`POST ${path}/approve`, { as: member.token })).status, 201);
  assert.equal((await read(approved)).body.length, 1);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 10 });
  assert.equal((await read(lists[0] ?? '')).status, 403);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 30 });
});

test('branches, tags, commits, folders and comparisons', async () => {
  const own = await seedCoded(gantry, { namespace: group.id, visibility: 'private' });
  const code = `/projects/${own.id}/repository`;
  const branches = async () =>
    (await read(`${code}/branches`)).body.map(({ name }: { name: string }) => name);
  const branch = async (name: string) =>
    (await read(`${code}/branches?search=${name}`)).body.find((one: { name: string }) => one.name === name);
  const ids = async (query = '') =>
    (await read(`${code}/commits${query}`)).body.map(({ id }: { id: string }) => id);
  const compared = async () =>
    (await read(`${code}/compare?from=main&to=topic`)).body.commits.map(({ id }: { id: string }) => id);
  const names = async () => (await read(`${code}/tree`)).body.map(({ name }: { name: string }) => name);
  assert.deepEqual([await branches(), await ids()], [['main'], [own.first]]);
  assert.equal((await read(`${code}/commits?ref_name=topic`)).status, 404);
  const topic = await seedBranch(gantry, own, 'topic');
  assert.deepEqual(
    [await branches(), await ids('?ref_name=topic')],
    [
      ['main', 'topic'],
      [topic, own.first],
    ],
  );
  assert.deepEqual(await compared(), [topic]);
  assert.deepEqual(await names(), ['README.md']);
  const second = await seedBranch(gantry, own, 'main', { files: { new: '1' } });
  assert.deepEqual(
    [await names(), await ids()],
    [
      ['README.md', 'new'],
      [second, own.first],
    ],
  );
  const more = await seedBranch(gantry, own, 'topic', { files: { more: '1' } });
  assert.deepEqual(await compared(), [topic, more]);
  assert.equal((await branch('topic')).commit.id, more);
  await gantry.api(`POST /projects/${own.id}/protected_branches`, { json: { name: 'topic' } });
  assert.deepEqual([(await branch('topic')).protected, (await branch('topic')).can_push], [true, false]);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 40 });
  assert.equal((await branch('topic')).can_push, true);
  await put(`/groups/${group.id}/members/${member.id}`, { access_level: 30 });
  await put(`/projects/${own.id}`, { default_branch: 'topic' });
  assert.equal((await branch('topic')).default, true);
  assert.deepEqual(await ids(), [more, topic, own.first]);
  const tags = async () => (await read(`${code}/tags`)).body;
  assert.deepEqual(await tags(), []);
  await gantry.api(`POST ${code}/tags`, { json: { tag_name: 'v1', ref: 'topic' } });
  assert.deepEqual((await tags())[0].commit.id, more);
  await gantry.api(`POST /projects/${own.id}/releases`, { json: { tag_name: 'v1', description: 'First' } });
  assert.equal((await tags())[0].release.description, 'First');
  await seedBranch(gantry, own, 'other');
  assert.deepEqual(await branches(), ['main', 'other', 'topic']);
  assert.equal((await gantry.api(`DELETE ${code}/branches/other`)).status, 204);
  assert.deepEqual(await branches(), ['main', 'topic']);
  assert.equal((await read(`${code}/branches`, stranger.token)).status, 404);
  await put(`/projects/${own.id}`, { repository_access_level: 'disabled' });
  assert.equal((await read(`${code}/branches`)).status, 403);
});

test('parameters of a repeated address: ignored and invalid ones are named each time', async () => {
  const path = `/projects/${project.id}/issues`;
  for (const as of [member.token, member.token, stranger.token, undefined]) {
    const { status, headers } = await gantry.api(`GET ${path}?nonsense=1`, as === undefined ? {} : { as });
    const isHidden = as === stranger.token;
    assert.deepEqual([status, headers.get('gantry-ignored-parameters')], [isHidden ? 404 : 200, 'nonsense']);
    const refused = await gantry.api(`GET ${path}?nonsense=1&state=none`, as === undefined ? {} : { as });
    assert.deepEqual([refused.status, refused.headers.get('gantry-ignored-parameters')], [400, 'nonsense']);
  }
  const pages = async (page: number) => (await read(`${path}?per_page=1&page=${page}`)).headers.get('x-page');
  assert.deepEqual([await pages(1), await pages(2), await pages(1)], ['1', '2', '1']);
});

test('a new issue finds labels and milestones as they are', async () => {
  const own = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const path = `/projects/${own.id}`;
  const create = async (json: object) =>
    (await gantry.api(`POST ${path}/issues`, { json: { title: 'One', ...json } })).body;
  const titles = async () =>
    (await gantry.api(`GET ${path}/labels`)).body.map(({ name }: { name: string }) => name);
  const milestone = (await gantry.api(`POST ${path}/milestones`, { json: { title: 'v1' } })).body;
  for (let at = 0; at < 2; at += 1) {
    const { labels, milestone: shown } = await create({ labels: 'a', milestone_id: milestone.id });
    assert.deepEqual([labels, shown.title], [['a'], 'v1']);
  }
  await put(`${path}/labels`, { name: 'a', new_name: 'b' });
  assert.deepEqual([(await create({ labels: 'a' })).labels, await titles()], [['a'], ['a', 'b']]);
  for (const name of ['a', 'b']) await gantry.api(`DELETE ${path}/labels/${name}`);
  const ofGroup = await gantry.api(`POST /groups/${group.id}/labels`, { json: { name: 'a', color: '#fff' } });
  assert.equal(ofGroup.status, 201);
  assert.deepEqual((await create({ labels: 'a' })).labels, ['a']);
  const listed = (await gantry.api(`GET ${path}/issues?labels=a`)).body;
  assert.deepEqual([listed.length, (await titles()).includes('b')], [1, false]);
  await gantry.api(`DELETE ${path}/milestones/${milestone.id}`);
  assert.equal((await create({ milestone_id: milestone.id })).milestone, null);
  const { iid } = await create({});
  const { open_issues_count: before } = (await gantry.api(`GET ${path}`)).body;
  await put(path, { description: 'Other' });
  await put(`${path}/issues/${iid}`, { state_event: 'close' });
  const { description, open_issues_count } = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual([description, open_issues_count], ['Other', before - 1]);
});
