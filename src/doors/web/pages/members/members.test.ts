/** Tests the pages of members of projects and groups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;

type Person = { id: number; username: string; name: string; visitor: Visitor };
let owner: Person;
let master: Person;
let developer: Person;
let stranger: Person;

const someone = async (): Promise<Person> => {
  const seeded = await seedVisitor(gantry);
  return { ...seeded, name: `Name of ${seeded.username}` };
};

before(async () => {
  gantry = await startTestService();
  [owner, master, developer, stranger] = [await someone(), await someone(), await someone(), await someone()];
});
after(async () => await gantry.close());

/** Creates a private project in a group with an owner, a maintainer and a developer. */
const place = async () => {
  const group = await seedGroup(gantry, { owner: owner.id, visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const roleIn = async (of: string, user: number): Promise<number | undefined> =>
    (await gantry.api(`GET ${of}/members/${user}`)).body.access_level;
  return {
    group,
    project,
    path: `/${project.full_path}/-/project_members`,
    groupPath: `/groups/${group.full_path}/-/group_members`,
    inProject: async (user: number) => await roleIn(`/projects/${project.id}`, user),
    inGroup: async (user: number) => await roleIn(`/groups/${group.id}`, user),
  };
};

test('lists members with their roles and the group they come from', async () => {
  const { group, path, groupPath } = await place();
  const { status, text } = await master.visitor.get(path);
  assert.equal(status, 200);
  assert.match(text, /3 members/);
  const rowOf = (name: string): string =>
    text.split('<li>').find((part) => part.includes(`>${name}</a>`)) ?? '';
  assert.match(
    rowOf(owner.name),
    new RegExp(`Inherited from <a href="/groups/${group.full_path}">[\\s\\S]*Owner`),
  );
  assert.doesNotMatch(rowOf(owner.name), /<form/);
  assert.match(rowOf(developer.name), /Direct member[\s\S]*Developer[\s\S]*Remove from the project/);
  assert.match(rowOf(master.name), /You<\/span>[\s\S]*Leave the project/);
  const direct = await master.visitor.get(`${path}?with=direct`);
  assert.deepEqual([/2 members/.test(direct.text), direct.text.includes(owner.name)], [true, false]);
  const searched = await master.visitor.get(`${path}?query=${developer.username}`);
  assert.deepEqual(
    [/1 member</.test(searched.text), searched.text.includes(`>${owner.name}</a>`)],
    [true, false],
  );
  assert.match((await owner.visitor.get(groupPath)).text, /1 member</);
  assert.match(
    (await owner.visitor.get(`/groups/${group.full_path}`)).text,
    new RegExp(`href="${groupPath}"`),
  );
});

test('adds, changes and removes a member of a project', async () => {
  const { path, inProject } = await place();
  const { visitor } = master;
  const person = await someone();
  const added = await visitor.post(path, {
    user: `@${person.username}`,
    access_level: '20',
    expires_at: '2099-01-02',
  });
  assert.deepEqual([added.status, added.location], [303, path]);
  assert.equal(await inProject(person.id), 20);
  assert.match((await visitor.get(path)).text, /Until 2099-01-02/);
  await visitor.post(`${path}/${person.id}`, { access_level: '30', expires_at: '' });
  assert.equal(await inProject(person.id), 30);
  assert.doesNotMatch((await visitor.get(path)).text, /Until /);
  assert.equal((await visitor.post(`${path}/${person.id}/remove`)).location, path);
  assert.equal(await inProject(person.id), undefined);
});

test('offers the users that match a name', async () => {
  const { path, inProject } = await place();
  const { visitor } = master;
  const person = await someone();
  const { status, text } = await visitor.post(path, {
    user: `Name of ${person.username}`,
    access_level: '20',
  });
  assert.equal(status, 422);
  assert.match(text, /Who do you mean\?/);
  assert.match(text, new RegExp(`type="radio" value="${person.username}"`));
  assert.match(text, /<option value="20" selected>Reporter/);
  const chosen = { user: 'Name of', choice: person.username, access_level: '20' };
  assert.equal((await visitor.post(path, chosen)).status, 303);
  assert.equal(await inProject(person.id), 20);
});

test('shows problems and changes nothing', async () => {
  const { path, inProject } = await place();
  const { visitor } = master;
  const level = { access_level: '30' };
  const cases: [string, Record<string, string>, RegExp][] = [
    [
      '',
      { user: 'no-such-<b>', ...level },
      /User was not found[\s\S]*no-such-&lt;b&gt;|no-such-&lt;b&gt;[\s\S]*User was not found/,
    ],
    ['', { user: ' ', ...level }, /User can&#39;t be blank/],
    ['', { user: developer.username, ...level }, /Member already exists/],
    ['', { user: stranger.username, access_level: '35' }, /Role is not included in the list/],
    ['', { user: stranger.username, ...level, expires_at: '2001-01-01' }, /cannot be a date in the past/],
    ['', { user: stranger.username, ...level, expires_at: 'soon' }, /is invalid/],
    [`/${developer.id}`, { access_level: '50' }, /Role is not included in the list/],
    [`/${developer.id}`, { access_level: 'x' }, /<details open>/],
  ];
  for (const [below, form, expected] of cases) {
    const { status, text } = await visitor.post(path + below, form);
    assert.equal(status, 422, JSON.stringify(form));
    assert.match(text, expected);
  }
  assert.deepEqual([await inProject(developer.id), await inProject(stranger.id)], [30, undefined]);
  assert.equal((await visitor.post(`${path}/${stranger.id}`, level)).status, 404);
  assert.equal((await visitor.post(`${path}/${stranger.id}/remove`)).status, 404);
});

test('manages the members of a group, and keeps its last owner', async () => {
  const { groupPath, inGroup } = await place();
  const { visitor } = owner;
  const person = await someone();
  await visitor.post(groupPath, { user: person.username, access_level: '50' });
  assert.equal(await inGroup(person.id), 50);
  await visitor.post(`${groupPath}/${person.id}`, { access_level: '10' });
  assert.equal(await inGroup(person.id), 10);
  const kept = [
    await visitor.post(`${groupPath}/${owner.id}/remove`),
    await visitor.post(`${groupPath}/${owner.id}`, { access_level: '10' }),
  ];
  for (const { status, text } of kept) {
    assert.deepEqual([status, /last owner of a group must stay/.test(text)], [422, true]);
  }
  assert.equal(await inGroup(owner.id), 50);
  await person.visitor.get(groupPath);
  assert.equal(
    (await person.visitor.post(groupPath, { user: stranger.username, access_level: '10' })).status,
    403,
  );
  assert.equal((await person.visitor.post(`${groupPath}/${person.id}/remove`)).location, '/');
  assert.equal(await inGroup(person.id), undefined);
});

test('a maintainer grants no role above their own', async () => {
  const { group, groupPath, inGroup } = await place();
  const second = await someone();
  await seedMember(gantry, { user: second.id, group: group.id, access_level: 40 });
  await second.visitor.get(groupPath);
  const form = { user: second.username, access_level: '50' };
  assert.equal((await second.visitor.post(groupPath, form)).status, 403);
  assert.equal((await second.visitor.post(`${groupPath}/${second.id}`, { access_level: '50' })).status, 403);
  assert.equal(await inGroup(second.id), 40);
});

test('members read the list, leave, and change nobody else', async () => {
  const { project, path, inProject } = await place();
  const { visitor } = developer;
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  assert.deepEqual(
    [/Add a member/.test(text), /Remove from/.test(text), /Leave the project/.test(text)],
    [false, false, true],
  );
  assert.equal(text.includes(`href="/${project.full_path}/-/settings"`), false);
  assert.equal((await visitor.post(path, { user: stranger.username, access_level: '10' })).status, 403);
  assert.equal((await visitor.post(path, { user: stranger.username, access_level: 'x' })).status, 403);
  assert.equal((await visitor.post(`${path}/${developer.id}`, { access_level: '40' })).status, 403);
  assert.equal((await visitor.post(`${path}/${master.id}/remove`)).status, 403);
  const left = await visitor.post(`${path}/${developer.id}/remove`);
  assert.deepEqual([left.status, left.location], [303, '/']);
  assert.equal(await inProject(developer.id), undefined);
  assert.equal((await visitor.get(path)).status, 404);
});

test('everyone who may read the list has a link to it: in the settings, or a tab of its own', async () => {
  const { project, path } = await place();
  const tabsOf = (text: string): string => /aria-label="Project">.*?<\/nav>/s.exec(text)?.[0] ?? '';
  const { visitor: guest } = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  for (const visitor of [guest, developer.visitor]) {
    assert.ok(tabsOf((await visitor.get(`/${project.full_path}`)).text).includes(`href="${path}"`));
    const list = await visitor.get(path);
    assert.equal(list.status, 200);
    assert.ok(tabsOf(list.text).includes(`href="${path}" aria-current="page"`));
    assert.doesNotMatch(tabsOf(list.text), /Settings/);
  }
  const managed = (await master.visitor.get(path)).text;
  assert.ok(!tabsOf(managed).includes(path) && /Settings<\/a>/.test(tabsOf(managed)));
  assert.match(managed, new RegExp(`aria-label="Settings"[\\s\\S]+href="${path}" aria-current="page"`));
  const open = await seedProject(gantry, { visibility: 'public' });
  const anonymous = tabsOf((await openVisitor(gantry).get(`/${open.full_path}`)).text);
  assert.ok(anonymous !== '' && !anonymous.includes('project_members'));
  const jump = await developer.visitor.get(`/-/jump?q=members&place=/${project.full_path}`);
  assert.ok(jump.text.includes(`<a href="${path}">`));
});

test('hidden projects and groups answer like missing ones', async () => {
  const { project, group, path, groupPath } = await place();
  for (const [one, name] of [
    [path, project.full_path],
    [groupPath, group.full_path],
  ] as const) {
    const hidden = await stranger.visitor.get(one);
    const missing = await stranger.visitor.get(one.replace(name, 'no/such'));
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match((await openVisitor(gantry).get(one)).location ?? '', /^\/users\/sign_in/);
  }
});

test('keeps the owner of a personal project', async () => {
  const { body } = await gantry.api('POST /projects/user/' + owner.id, { json: { name: unique('own') } });
  const path = `/${body.path_with_namespace}/-/project_members`;
  await owner.visitor.get(path);
  const { status, text } = await owner.visitor.post(`${path}/${owner.id}/remove`);
  assert.deepEqual([status, /owner of a personal project/.test(text)], [422, true]);
  assert.equal((await gantry.api(`GET /projects/${body.id}/members/${owner.id}`)).status, 200);
});

test('says where a group does not allow adding members', async () => {
  const { group, path } = await place();
  assert.equal(
    (await gantry.api(`PUT /groups/${group.id}`, { json: { membership_lock: true } })).status,
    200,
  );
  const { text } = await master.visitor.get(path);
  assert.deepEqual([/Add a member/.test(text), /does not allow adding members/.test(text)], [false, true]);
  const form = { user: stranger.username, access_level: '10' };
  assert.equal((await master.visitor.post(path, form)).status, 403);
});

test('shows many members in pages', async () => {
  const { path } = await place();
  const { text } = await master.visitor.get(`${path}?per_page=1&page=2`);
  assert.match(text, /Page 2 of 3/);
  assert.equal((await master.visitor.get(`${path}?page=x`)).status, 400);
});

test('lists members of a shared group, and names the group only to those who see it', async () => {
  const { project, path } = await place();
  const group = await seedGroup(gantry, { visibility: 'private' });
  const person = await someone();
  await seedMember(gantry, { user: person.id, group: group.id, access_level: 30 });
  const json = { group_id: group.id, group_access: 20 };
  assert.equal((await gantry.api(`POST /projects/${project.id}/share`, { json })).status, 201);
  const hidden = (await master.visitor.get(path)).text;
  assert.match(hidden, new RegExp(`${person.name}[^]*Member of a private group`));
  assert.doesNotMatch(hidden, new RegExp(group.full_path));
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 10 });
  assert.match(
    (await master.visitor.get(path)).text,
    new RegExp(`By the shared group <a href="/groups/${group.full_path}">`),
  );
});

test('invites a group, changes its role and ends the sharing', async () => {
  const { project, path } = await place();
  const group = await seedGroup(gantry, { visibility: 'private' });
  const person = await someone();
  await seedMember(gantry, { user: person.id, group: group.id, access_level: 40 });
  const { visitor } = master;
  const invite = async (form: Record<string, string>) =>
    await visitor.post(`${path}/groups`, { shared_group: group.full_path, group_access: '30', ...form });
  const roleOf = async (): Promise<number | undefined> =>
    (await gantry.api(`GET /projects/${project.id}/members/all/${person.id}`)).body.access_level;
  await visitor.get(path);
  const hidden = await invite({});
  assert.deepEqual([hidden.status, /Group was not found/.test(hidden.text)], [422, true]);
  assert.equal((await invite({ shared_group: String(group.id) })).status, 422);
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 10 });
  const past = await invite({ expires_at: '2000-01-01' });
  assert.match(past.text, /cannot be a date in the past/);
  assert.equal((await invite({ group_access: '50' })).status, 422);
  const invited = await invite({ expires_at: '2099-01-02' });
  assert.deepEqual([invited.status, invited.location], [303, path]);
  assert.equal(await roleOf(), 30);
  const { text } = await visitor.get(path);
  assert.match(text, /Shared groups[^]*Until 2099-01-02[^]*At most Developer/);
  const again = await invite({});
  assert.match(again.text, /already been shared/);
  const changed = await visitor.post(`${path}/groups/${group.id}`, { group_access: '20', expires_at: '' });
  assert.equal(changed.status, 303);
  assert.equal(await roleOf(), 20);
  const other = await seedGroup(gantry);
  const form = { group_access: '20' };
  assert.equal((await visitor.post(`${path}/groups/${other.id}`, form)).status, 404);
  for (const post of [`/groups`, `/groups/${group.id}`, `/groups/${group.id}/remove`]) {
    assert.equal((await developer.visitor.post(path + post, { ...form, shared_group: 'x' })).status, 403);
    assert.equal((await stranger.visitor.post(path + post, { ...form, shared_group: 'x' })).status, 404);
  }
  assert.equal((await visitor.post(`${path}/groups/${group.id}/remove`)).status, 303);
  assert.equal(await roleOf(), undefined);
});

test('invites a group to a group', async () => {
  const group = await seedGroup(gantry, { owner: master.id });
  const invited = await seedGroup(gantry);
  const path = `/groups/${group.full_path}/-/group_members`;
  const invite = async (shared_group: string) =>
    await master.visitor.post(`${path}/groups`, { shared_group, group_access: '20' });
  await master.visitor.get(path);
  const own = await invite(group.full_path);
  assert.deepEqual([own.status, /cannot be shared with itself/.test(own.text)], [422, true]);
  assert.equal((await invite(invited.full_path)).status, 303);
  const { shared_with_groups } = (await gantry.api(`GET /groups/${group.id}`)).body;
  assert.deepEqual(
    shared_with_groups.map((share: { group_id: number }) => share.group_id),
    [invited.id],
  );
});

test('shows a group that a maintainer does not see to end its sharing, and hides it from others', async () => {
  const { group, groupPath } = await place();
  const hidden = await seedGroup(gantry, { visibility: 'private' });
  const json = { group_id: hidden.id, group_access: 20 };
  assert.equal((await gantry.api(`POST /groups/${group.id}/share`, { json })).status, 201);
  const { text } = await owner.visitor.get(groupPath);
  assert.match(text, /Private group[^]*Stop sharing/);
  assert.doesNotMatch(text, new RegExp(hidden.full_path));
  const guest = await someone();
  await seedMember(gantry, { user: guest.id, group: group.id, access_level: 10 });
  assert.doesNotMatch((await guest.visitor.get(groupPath)).text, /Private group|Invite a group/);
  assert.equal((await owner.visitor.post(`${groupPath}/groups/${hidden.id}/remove`)).status, 303);
  await gantry.api(`PUT /groups/${group.id}`, { json: { share_with_group_lock: true } });
  assert.match((await owner.visitor.get(groupPath)).text, /do not allow sharing/);
});
