/** Options of groups: they are stored, shown and enforced. Filters of group lists. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededUser, seedGroup, seedMember, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;
before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
});
after(async () => await gantry.close());

const member = async (group: number, access_level: number): Promise<SeededUser> => {
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, group, access_level });
  return user;
};

const post = async (user: SeededUser, path: string, json: object) =>
  await gantry.api(`POST ${path}`, { as: user.token, json });
const put = async (path: string, json: object) => await gantry.api(`PUT ${path}`, { as: owner.token, json });

const newProject = async (user: SeededUser, namespace_id: number, more: object = {}) =>
  await post(user, '/projects', { name: unique('in-group'), namespace_id, ...more });

test('returns every option as written', async () => {
  const options = {
    project_creation_level: 'developer',
    subgroup_creation_level: 'maintainer',
    lfs_enabled: true,
    request_access_enabled: true,
    require_two_factor_authentication: true,
    two_factor_grace_period: 12,
    share_with_group_lock: true,
    membership_lock: true,
    emails_disabled: true,
    mentions_disabled: true,
    auto_devops_enabled: false,
    default_branch_protection: 1,
    default_branch: 'trunk',
    shared_runners_setting: 'disabled_and_overridable',
  };
  const path = unique('options');
  const made = await post(owner, '/groups', { name: path, path, ...options });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual({ ...made.body, ...options }, made.body);
  assert.equal(made.body.emails_enabled, false);
  const other = { ...options, two_factor_grace_period: 0, default_branch: null, emails_disabled: false };
  const changed = await put(`/groups/${path}`, {
    ...other,
    emails_disabled: undefined,
    emails_enabled: true,
  });
  assert.deepEqual({ ...changed.body, ...other }, changed.body);
  assert.deepEqual((await gantry.api(`GET /groups/${path}`, { as: owner.token })).body.projects, []);
  const wrong = await put(`/groups/${path}`, { project_creation_level: 'guest' });
  assert.deepEqual(wrong.body, { message: { project_creation_level: ['does not have a valid value'] } });
});

test('restricts who creates projects and subgroups in a group', async () => {
  const group = await seedGroup(gantry, { owner: owner.id });
  const [developer, master] = [await member(group.id, 30), await member(group.id, 40)];
  const create = async (user: SeededUser) => (await newProject(user, group.id)).status;
  const nest = async (user: SeededUser) => {
    const path = unique('nested');
    return (await post(user, '/groups', { name: path, path, parent_id: group.id })).status;
  };
  assert.deepEqual([await create(developer), await create(master), await nest(master)], [400, 201, 403]);
  await put(`/groups/${group.id}`, {
    project_creation_level: 'developer',
    subgroup_creation_level: 'maintainer',
  });
  assert.deepEqual([await create(developer), await nest(developer), await nest(master)], [201, 403, 201]);
  await put(`/groups/${group.id}`, { project_creation_level: 'noone' });
  assert.deepEqual([await create(owner), await create(master)], [400, 400]);
  const asRoot = { json: { name: unique('of-root'), namespace_id: group.id } };
  assert.equal((await gantry.api('POST /projects', asRoot)).status, 201);
});

test('new projects inherit default branch and protection from the nearest group', async () => {
  const top = await seedGroup(gantry, { owner: owner.id });
  const below = await seedGroup(gantry, { parent: top.id });
  await put(`/groups/${top.id}`, { default_branch: 'trunk', default_branch_protection: 3 });
  const begun = async () => {
    const { body } = await newProject(owner, below.id, { initialize_with_readme: true });
    const protection = await gantry.api(`GET /projects/${body.id}/protected_branches`, { as: owner.token });
    return [body.default_branch, protection.body];
  };
  const [branch, [{ push_access_levels, merge_access_levels }]] = await begun();
  assert.equal(branch, 'trunk');
  assert.deepEqual([push_access_levels[0].access_level, merge_access_levels[0].access_level], [40, 30]);
  await put(`/groups/${below.id}`, { default_branch: 'stem', default_branch_protection: 0 });
  assert.deepEqual(await begun(), ['stem', []]);
});

test('a membership lock prevents members of projects below', async () => {
  const top = await seedGroup(gantry, { owner: owner.id });
  const below = await seedGroup(gantry, { parent: top.id });
  const { body } = await newProject(owner, below.id);
  const add = async () =>
    (
      await post(owner, `/projects/${body.id}/members`, {
        user_id: (await seedUser(gantry)).id,
        access_level: 10,
      })
    ).status;
  await put(`/groups/${top.id}`, { membership_lock: true });
  assert.equal(await add(), 403);
  await put(`/groups/${top.id}`, { membership_lock: false });
  assert.equal(await add(), 201);
});

test('a group turns off instance runners for everything below it', async () => {
  const top = await seedGroup(gantry, { owner: owner.id });
  const below = await seedGroup(gantry, { parent: top.id });
  const { body } = await newProject(owner, below.id);
  const isOn = async () =>
    (await gantry.api(`GET /projects/${body.id}`, { as: owner.token })).body.shared_runners_enabled;
  await put(`/groups/${top.id}`, { shared_runners_setting: 'disabled_and_overridable' });
  assert.equal(await isOn(), false);
  assert.equal((await put(`/projects/${body.id}`, { shared_runners_enabled: true })).status, 200);
  await put(`/groups/${top.id}`, { shared_runners_setting: 'disabled_and_unoverridable' });
  assert.equal(await isOn(), false);
  const message = { shared_runners_enabled: ['cannot be enabled because parent group does not allow it'] };
  assert.deepEqual((await put(`/projects/${body.id}`, { shared_runners_enabled: true })).body, { message });
  assert.equal((await newProject(owner, below.id)).body.shared_runners_enabled, false);
  const refused = await put(`/groups/${below.id}`, { shared_runners_setting: 'enabled' });
  assert.equal(refused.status, 400);
});

test('groups are filtered by the role of the caller, by level and by visibility', async () => {
  const word = unique('filtered');
  const top = await seedGroup(gantry, { path: `${word}-a`, owner: owner.id });
  const below = await seedGroup(gantry, { path: `${word}-b`, parent: top.id, visibility: 'private' });
  const guest = await member(top.id, 10);
  const listed = async (query: string, as: string | null) => {
    const reply = await gantry.api(`GET /groups?search=${word}&order_by=id&${query}`, { as });
    assert.equal(reply.headers.get('x-total'), String(reply.body.length));
    return reply.body.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await listed('', guest.token), [top.id, below.id]);
  assert.deepEqual(await listed('min_access_level=10', guest.token), [top.id, below.id]);
  assert.deepEqual(await listed('min_access_level=40', guest.token), []);
  assert.deepEqual(await listed('min_access_level=40&all_available=true', guest.token), []);
  assert.deepEqual(await listed('min_access_level=40', owner.token), [top.id, below.id]);
  assert.deepEqual(await listed('min_access_level=10', null), []);
  assert.deepEqual(await listed('top_level_only=true', owner.token), [top.id]);
  assert.deepEqual(await listed('visibility=private', owner.token), [below.id]);
  assert.equal((await gantry.api('GET /groups?min_access_level=7')).status, 400);
  for (const none of ['archived=true', 'active=false', 'marked_for_deletion_on=2026-01-01'])
    assert.deepEqual(await listed(none, owner.token), [], none);
  assert.deepEqual(await listed('archived=false&active=true', owner.token), [top.id, below.id]);
  const subgroups = await gantry.api(`GET /groups/${top.id}/subgroups?min_access_level=20`, {
    as: guest.token,
  });
  assert.deepEqual(subgroups.body, []);
});
