/** Tests the pages of groups: home, lists, new. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMergeRequest,
  seedProject,
  unique,
} from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let home: string;
let owner: Visitor;
let guest: Visitor;
let stranger: Visitor;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: group.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'public' });
  home = `/groups/${group.full_path}`;
  [owner, guest, stranger] = [await someone(50), await someone(10), await someone(null)];
});
after(async () => await gantry.close());

/** The paths of the listed groups and projects, in order. */
const listed = (text: string): string[] =>
  [...text.matchAll(/<a class="title" href="([^"]+)"/g)].map(([, path = '']) =>
    path.replace('/groups/', '/'),
  );

test('lists subgroups, then projects, that the visitor sees', async () => {
  const above = await seedGroup(gantry, { visibility: 'public' });
  const at = `/groups/${above.full_path}`;
  const open = await seedGroup(gantry, { parent: above.id, visibility: 'public' });
  await seedGroup(gantry, { parent: above.id, visibility: 'private' });
  await seedProject(gantry, { namespace: open.id });
  await seedProject(gantry, { namespace: open.id, visibility: 'private' });
  const [first, second] = [
    await seedProject(gantry, { namespace: above.id, path: 'aa' }),
    await seedProject(gantry, { namespace: above.id, path: 'bb' }),
  ];
  await seedProject(gantry, { namespace: above.id, visibility: 'private' });
  const old = await seedProject(gantry, { namespace: open.id, archived: 1 });
  const { text } = await openVisitor(gantry).get(`${at}?sort=name_asc`);
  assert.deepEqual(
    listed(text),
    [open, first, second].map((one) => `/${one.full_path}`),
  );
  assert.match(text, /1 subgroup, 2 projects[\s\S]+<span>1 project<\/span>/);
  const paged = async (page: number) =>
    listed((await stranger.get(`${at}?sort=name_asc&per_page=2&page=${page}`)).text);
  assert.deepEqual(
    [await paged(1), await paged(2)],
    [[`/${open.full_path}`, `/${first.full_path}`], [`/${second.full_path}`]],
  );
  assert.deepEqual(listed((await stranger.get(`${at}?archived=1`)).text), [`/${old.full_path}`]);
});

test('searches groups and projects at any depth', async () => {
  const below = await seedGroup(gantry, { parent: group.id, visibility: 'public' });
  const deep = await seedGroup(gantry, { parent: below.id, path: 'needle-group', visibility: 'public' });
  const project = await seedProject(gantry, { namespace: deep.id, path: 'needle-project' });
  const { text } = await guest.get(`${home}?search=NEEDLE`);
  assert.deepEqual(listed(text), [`/${deep.full_path}`, `/${project.full_path}`]);
  assert.match((await guest.get(`${home}?search=no-such-thing`)).text, /Nothing matches/);
  assert.equal((await guest.get(`${home}?sort=bad`)).status, 400);
});

test('offers new projects and subgroups to those who may create them', async () => {
  const { text } = await owner.get(home);
  assert.ok(text.includes(`/groups/new?parent_id=${group.id}`));
  assert.ok(text.includes(`/projects/new?namespace_id=${group.id}`));
  for (const visitor of [guest, stranger, openVisitor(gantry)])
    assert.doesNotMatch((await visitor.get(home)).text, /parent_id=|namespace_id=/);
});

test('creates a group and a subgroup', async () => {
  assert.match((await stranger.get('/groups/new')).text, /<h1>New group<\/h1>/);
  const name = `My ${unique('group')}`;
  const path = name.toLowerCase().replace(' ', '-');
  const made = await stranger.post('/groups', { name, description: '<b>', visibility: 'public' });
  assert.deepEqual([made.status, made.location], [303, `/groups/${path}`]);
  assert.match(
    (await openVisitor(gantry).get(`/groups/${path}`)).text,
    /&lt;b&gt;[\s\S]+This group is empty/,
  );
  assert.match((await owner.get(`/groups/new?parent_id=${group.id}`)).text, /<h1>New subgroup<\/h1>/);
  const sub = await owner.post('/groups', {
    name: 'Sub',
    path: 'sub',
    parent_id: String(group.id),
    description: 'One\r\ntwo',
    visibility: 'private',
  });
  assert.equal(sub.location, `${home}/sub`);
  const { body } = await gantry.api(`GET /groups/${encodeURIComponent(`${group.full_path}/sub`)}`);
  assert.deepEqual([body.visibility, body.parent_id, body.description], ['private', group.id, 'One\ntwo']);
});

test('shows the form again with its problem', async () => {
  const bad: [Record<string, string>, RegExp][] = [
    [{ name: '' }, /Name [^<]+/],
    [{ name: 'x', path: 'a b' }, /id="path_error"/],
    [{ name: 'x', path: group.full_path }, /has already been taken/],
    [{ name: 'kept', visibility: 'odd' }, /value="kept"/],
    [{ name: 'x', path: unique('x'), parent_id: '999999' }, /id="parent_id_error"/],
    [{ name: 'x', path: unique('x'), parent_id: String(group.id) }, /id="parent_id_error"/],
  ];
  for (const [sent, said] of bad) {
    const { status, text } = await stranger.post('/groups', sent);
    assert.deepEqual([status, said.test(text)], [422, true], JSON.stringify(sent));
  }
  const narrow = await seedGroup(gantry, { visibility: 'private' });
  assert.equal((await stranger.get(`/groups/new?parent_id=${narrow.id}`)).status, 404);
  assert.equal((await stranger.get(`/groups/new?parent_id=${group.id}`)).status, 403);
  assert.match((await openVisitor(gantry).get('/groups/new')).location ?? '', /^\/users\/sign_in/);
});

test('lists all visible groups, and those of the user', async () => {
  const [open, shut] = [
    await seedGroup(gantry, { path: unique('zoo') }),
    await seedGroup(gantry, { path: unique('zoo'), visibility: 'private' }),
  ];
  const found = async (visitor: Visitor, path: string): Promise<string[]> =>
    listed((await visitor.get(path)).text);
  assert.deepEqual(await found(openVisitor(gantry), '/explore/groups?search=zoo-'), [`/${open.full_path}`]);
  assert.equal((await found(stranger, '/explore/groups?sort=created_desc'))[0], `/${open.full_path}`);
  assert.deepEqual(await found(stranger, `/explore/groups?search=${shut.full_path}`), []);
  assert.ok((await found(guest, '/dashboard/groups')).includes(`/${group.full_path}`));
  assert.ok(!(await found(stranger, '/dashboard/groups')).includes(`/${group.full_path}`));
  assert.match((await openVisitor(gantry).get('/dashboard/groups')).location ?? '', /^\/users\/sign_in/);
});

test('lists the issues of a group and of all groups below it', async () => {
  const hidden = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedGroup(gantry, { parent: group.id });
  const project = await seedProject(gantry, { namespace: below.id });
  const json = { title: unique('deep') };
  await gantry.api(`POST /projects/${project.id}/issues`, { json });
  const { text } = await guest.get(`${home}/-/issues`);
  assert.match(text, new RegExp(`${json.title}[\\s\\S]+${project.full_path}#1 opened`));
  const seen = await stranger.get(`/groups/${hidden.full_path}/-/issues`);
  const missing = await stranger.get('/groups/no-such/-/issues');
  assert.deepEqual([seen.status, seen.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${home}/-/issues`)).location ?? '', /^\/users\/sign_in/);
  assert.equal((await guest.get(`${home}/-/issues?state=odd`)).status, 400);
});

test('tabs count the open issues and merge requests that the viewer sees, at any depth', async () => {
  const own = await seedGroup(gantry, { visibility: 'public' });
  const below = await seedGroup(gantry, { parent: own.id, visibility: 'public' });
  const project = await seedProject(gantry, { namespace: below.id, visibility: 'public' });
  const secret = await seedProject(gantry, { namespace: own.id, visibility: 'private' });
  for (const given of [{}, { state: 'closed' as const }, { confidential: 1 as const }])
    await seedIssue(gantry, { project: project.id, ...given });
  await seedIssue(gantry, { project: secret.id });
  await seedMergeRequest(gantry, { project: project.id });
  const countsFor = async (visitor: Visitor): Promise<string[]> => {
    const { text } = await visitor.get(`/groups/${own.full_path}/-/labels`);
    const tabs = /aria-label="Group">.*?<\/nav>/s.exec(text)?.[0] ?? '';
    return [...tabs.matchAll(/(Issues|Merge requests) <span class="count">(\d+)</g)].map(
      ([, name = '', count = '']) => `${name} ${count}`,
    );
  };
  const { visitor: member } = await seedVisitor(gantry, { group: own.id, access_level: 20 });
  assert.deepEqual(await countsFor(stranger), ['Issues 1', 'Merge requests 1']);
  assert.deepEqual(await countsFor(member), ['Issues 3', 'Merge requests 1']);
  await seedIssue(gantry, { project: secret.id });
  assert.deepEqual(await countsFor(member), ['Issues 4', 'Merge requests 1']);
});

test('every page of a group has the keys of its lists, for those who may open them', async () => {
  const own = await seedGroup(gantry, { visibility: 'public' });
  const keysIn = (text: string): (string | undefined)[][] =>
    [...text.matchAll(/<a href="([^"]+)" data-key="(g [pvibm])"/g)].map(([, path, keys]) => [keys, path]);
  const member = (await seedVisitor(gantry, { group: own.id, access_level: 10 })).visitor;
  const at = `/groups/${own.full_path}`;
  for (const page of [at, `${at}/-/issues`]) {
    assert.deepEqual(keysIn((await member.get(page)).text), [
      ['g p', at],
      ['g v', `${at}/-/activity`],
      ['g i', `${at}/-/issues`],
      ['g b', `${at}/-/boards`],
      ['g m', `${at}/-/merge_requests`],
    ]);
  }
});
