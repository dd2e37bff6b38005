/** Tests the settings page of groups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let top: { id: number; full_path: string };
let owner: Visitor;
let maintainer: Visitor;
let stranger: Visitor;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: top.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  top = await seedGroup(gantry, { visibility: 'private' });
  [owner, maintainer, stranger] = [await someone(50), await someone(40), await someone(null)];
});
after(async () => await gantry.close());

type Made = { id: number; path: string; full_path: string; settings: string };

/** A group below the one that the visitors belong to. */
const makeGroup = async (): Promise<Made> => {
  const made = await seedGroup(gantry, { parent: top.id, visibility: 'private' });
  return { ...made, settings: `/groups/${made.full_path}/-/settings` };
};

const show = async ({ id }: { id: number }) =>
  (await gantry.api(`GET /groups/${id}?with_projects=false`)).body;

test('saves each section by itself', async () => {
  const group = await makeGroup();
  assert.equal((await owner.get(group.settings)).status, 200);
  const forms: [key: string, sent: Record<string, string>][] = [
    ['about', { name: 'The Bridges', description: 'All <of> them' }],
    [
      'permissions',
      {
        project_creation_level: 'owner',
        subgroup_creation_level: 'maintainer',
        membership_lock: '1',
        share_with_group_lock: '1',
      },
    ],
    ['notifications', { emails_disabled: '1', mentions_disabled: '1' }],
    ['two_factor', { require_two_factor_authentication: '0', two_factor_grace_period: '24' }],
    ['repositories', { default_branch: 'trunk', default_branch_protection: '3' }],
    ['runners', { shared_runners_setting: 'disabled_and_overridable' }],
  ];
  for (const [key, sent] of forms)
    assert.equal((await owner.post(`${group.settings}/${key}`, sent)).location, group.settings, key);
  const stored = await show(group);
  assert.deepEqual(
    [stored.name, stored.description, stored.project_creation_level, stored.subgroup_creation_level],
    ['The Bridges', 'All <of> them', 'owner', 'maintainer'],
  );
  assert.deepEqual([stored.membership_lock, stored.two_factor_grace_period], [true, 24]);
  assert.deepEqual(
    [stored.share_with_group_lock, stored.emails_disabled, stored.mentions_disabled],
    [true, true, true],
  );
  assert.deepEqual(
    [stored.default_branch, stored.default_branch_protection, stored.shared_runners_setting],
    ['trunk', 3, 'disabled_and_overridable'],
  );
  const { text } = await owner.get(group.settings);
  assert.match(
    text,
    /value="The Bridges"[\s\S]+All &lt;of&gt; them[\s\S]+value="owner" selected[\s\S]+value="trunk"/,
  );
  for (const name of ['share_with_group_lock', 'emails_disabled', 'mentions_disabled'])
    assert.match(text, new RegExp(`name="${name}" type="checkbox" value="1" checked`));
});

const png = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
);

test('uploads, shows and removes an avatar', async () => {
  const group = await makeGroup();
  await owner.get(group.settings);
  const path = `${group.settings}/avatar`;
  const wrong = await owner.postFiles(path, {}, { avatar: { name: 'a.png', content: 'no picture' } });
  assert.deepEqual([wrong.status, wrong.text.includes('is not supported')], [422, true]);
  const { location } = await owner.postFiles(path, {}, { avatar: { name: 'a.png', content: png } });
  assert.equal(location, group.settings);
  const { avatar_url } = await show(group);
  const { text } = await owner.get(`/groups/${group.full_path}`);
  assert.ok(text.includes(`src="${new URL(avatar_url).pathname}"`) || text.includes(`src="${avatar_url}"`));
  await owner.post(path, { avatar: '' });
  assert.equal((await show(group)).avatar_url, null);
});

test('changes the path, to which the old one redirects', async () => {
  const group = await makeGroup();
  await owner.get(group.settings);
  const path = unique('moved');
  const moved = `/groups/${top.full_path}/${path}`;
  assert.equal((await owner.post(`${group.settings}/path`, { path })).location, `${moved}/-/settings`);
  assert.equal((await owner.get(`/groups/${group.full_path}`)).location, moved);
});

test('shows what is wrong, and saves nothing', async () => {
  const [group, other] = [await makeGroup(), await makeGroup()];
  await owner.get(group.settings);
  const bad: [key: string, sent: Record<string, string>, said: RegExp][] = [
    ['about', { name: '' }, /Correct <a href="#about_section">[\s\S]+id="name_error"/],
    ['path', { path: other.path }, /has already been taken/],
    ['visibility', { visibility: 'public' }, /parent group has a private visibility/],
    ['visibility', { visibility: 'odd' }, /id="visibility_error"|href="#visibility_section"/],
    ['two_factor', { two_factor_grace_period: '-1' }, /id="two_factor_grace_period_error"/],
    ['repositories', { default_branch_protection: '9' }, /id="default_branch_protection_error"/],
    ['delete', { confirm: 'no' }, /Type the full path of the group/],
  ];
  for (const [key, sent, said] of bad) {
    const { status, text } = await owner.post(`${group.settings}/${key}`, sent);
    assert.deepEqual([status, said.test(text)], [422, true], `${key} ${JSON.stringify(sent)}`);
  }
  const stored = await show(group);
  assert.deepEqual([stored.path, stored.visibility], [group.path, 'private']);
});

test('deletes the group when its path is typed', async () => {
  const group = await makeGroup();
  const project = await seedProject(gantry, { namespace: group.id });
  await owner.get(group.settings);
  const { location } = await owner.post(`${group.settings}/delete`, { confirm: ` ${group.full_path} ` });
  assert.equal(location, '/dashboard/groups');
  assert.equal((await gantry.api(`GET /groups/${group.id}`)).status, 404);
  assert.equal((await gantry.api(`GET /projects/${project.id}`)).status, 404);
});

test('is for owners alone; hidden groups answer like missing ones', async () => {
  const group = await makeGroup();
  assert.match((await owner.get(`/groups/${group.full_path}`)).text, /-\/settings"/);
  assert.doesNotMatch((await maintainer.get(`/groups/${group.full_path}`)).text, /-\/settings"/);
  assert.equal((await maintainer.get(group.settings)).status, 403);
  for (const key of [
    'about',
    'visibility',
    'permissions',
    'two_factor',
    'repositories',
    'runners',
    'path',
    'delete',
  ])
    assert.equal(
      (await maintainer.post(`${group.settings}/${key}`, { confirm: group.full_path })).status,
      403,
      key,
    );
  const [seen, missing] = [
    await stranger.get(group.settings),
    await stranger.get('/groups/no-such/-/settings'),
  ];
  assert.deepEqual([seen.status, seen.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(group.settings)).location ?? '', /^\/users\/sign_in/);
});

test('moves a group, and shows why it cannot move', async () => {
  const group = await makeGroup();
  const action = `${group.settings}/transfer`;
  const missing = await owner.post(action, { parent: 'nowhere' });
  assert.equal(missing.status, 422);
  assert.match(missing.text, /Transfer group[\s\S]+value="nowhere"[\s\S]+was not found/);
  const same = await owner.post(action, { parent: top.full_path });
  assert.equal(same.status, 422);
  assert.match(same.text, /Group is already associated to the parent group/);
  assert.equal((await maintainer.post(action, { parent: '' })).status, 403);
  assert.equal((await stranger.post(action, { parent: '' })).status, 404);
  assert.equal((await owner.post(action, { parent: '' })).location, `/groups/${group.path}/-/settings`);
  assert.equal((await show(group)).parent_id, null);
});
