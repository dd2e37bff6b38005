import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededGroup,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;

before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
});
after(async () => await gantry.close());

const ownedGroup = async (attributes: Parameters<typeof seedGroup>[1] = {}): Promise<SeededGroup> => {
  const group = await seedGroup(gantry, attributes);
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 50 });
  return group;
};

const transfer = async (id: number, group_id?: number | string, as = owner.token): Promise<Reply> =>
  await gantry.api(`POST /groups/${id}/transfer`, { as, json: group_id === undefined ? {} : { group_id } });

const show = async (path: string) => (await gantry.api(`GET ${path}`)).body;

/** Waits until the background work is done. */
const settle = async (): Promise<void> => {
  const { db } = gantry.service.platform.store;
  const count = async () =>
    (await db.selectFrom('work').select('id').where('name', '=', 'group_transferred').execute()).length;
  while ((await count()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
};

test('moves a group with all that is below it; old paths lead to the new ones', async () => {
  const [group, target] = [await ownedGroup(), await ownedGroup()];
  const below = await seedGroup(gantry, { parent: group.id });
  const project = await seedProject(gantry, { namespace: below.id });
  const reply = await transfer(group.id, target.full_path);
  assert.equal(reply.status, 201);
  const moved = `${target.full_path}/${group.path}`;
  assert.deepEqual([reply.body.full_path, reply.body.parent_id], [moved, target.id]);
  const paths = `${moved}/${below.path}/${project.path}`;
  assert.equal((await show(`/projects/${project.id}`)).path_with_namespace, paths);
  const old = encodeURIComponent(`${group.full_path}/${below.path}/${project.path}`);
  assert.equal((await show(`/projects/${old}`)).id, project.id);
  const back = await transfer(group.id);
  assert.deepEqual([back.body.full_path, back.body.parent_id], [group.path, null]);
});

test('refuses a transfer that changes nothing, makes a circle or meets a taken path', async () => {
  const [group, target] = [await ownedGroup(), await ownedGroup()];
  const below = await seedGroup(gantry, { parent: group.id });
  await gantry.api('POST /groups', { json: { name: 'Other', path: group.path, parent_id: target.id } });
  const refusals: [number, number | undefined, string][] = [
    [group.id, undefined, 'Group is already a root group.'],
    [below.id, group.id, 'Group is already associated to the parent group.'],
    [group.id, below.id, 'Cannot transfer group to one of its subgroup.'],
    [group.id, group.id, 'Cannot transfer group to one of its subgroup.'],
    [group.id, target.id, 'The parent group already has a subgroup or a project with the same path.'],
  ];
  for (const [id, to, text] of refusals) {
    const { status, body } = await transfer(id, to);
    assert.deepEqual([status, body], [400, { message: `Transfer failed: ${text}` }]);
  }
  assert.equal((await show(`/groups/${group.id}?with_projects=false`)).full_path, group.full_path);
});

test('moves only what the caller owns, into a group where they may create one', async () => {
  const [group, target] = [await ownedGroup(), await ownedGroup({ visibility: 'private' })];
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, group: group.id, access_level: 50 });
  assert.equal((await transfer(group.id, target.id, developer.token)).status, 404);
  await seedMember(gantry, { user: developer.id, group: target.id, access_level: 30 });
  const { status, body } = await transfer(group.id, target.id, developer.token);
  assert.deepEqual([status, body], [400, { message: "Transfer failed: You don't have enough permissions." }]);
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
  assert.equal((await transfer(group.id, undefined, master.token)).status, 403);
});

test('two transfers at once make no circle', async () => {
  const [one, other] = [await ownedGroup(), await ownedGroup()];
  const [inOne, inOther] = [
    await seedGroup(gantry, { parent: one.id }),
    await seedGroup(gantry, { parent: other.id }),
  ];
  const replies = await Promise.all([transfer(one.id, inOther.id), transfer(other.id, inOne.id)]);
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400],
  );
});

test('narrows what is wider than the new parent group', async () => {
  const [group, target] = [
    await ownedGroup({ visibility: 'public' }),
    await ownedGroup({ visibility: 'internal' }),
  ];
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'public' });
  const secret = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  assert.equal((await transfer(group.id, target.id)).body.visibility, 'internal');
  assert.equal((await show(`/projects/${project.id}`)).visibility, 'internal');
  assert.equal((await show(`/projects/${secret.id}`)).visibility, 'private');
});

test('copies labels and milestones of the former parent group that records carry', async () => {
  const [from, to] = [await ownedGroup(), await ownedGroup()];
  const group = await seedGroup(gantry, { parent: from.id });
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 50 });
  const project = await seedProject(gantry, { namespace: group.id });
  await gantry.api(`POST /groups/${from.id}/labels`, { json: { name: 'wide', color: '#112233' } });
  const milestone = (await gantry.api(`POST /groups/${from.id}/milestones`, { json: { title: 'v1' } })).body;
  const issue = await seedIssue(gantry, { project: project.id });
  const json = { labels: 'wide', milestone_id: milestone.id };
  await gantry.api(`PUT /projects/${project.id}/issues/${issue.iid}`, { json });
  assert.equal((await transfer(group.id, to.id)).status, 201);
  await settle();
  const moved = await show(`/projects/${project.id}/issues/${issue.iid}`);
  assert.deepEqual([moved.labels, moved.milestone.title], [['wide'], 'v1']);
  assert.equal(moved.milestone.project_id, project.id);
  const labels = await show(`/projects/${project.id}/labels`);
  assert.deepEqual(
    labels.map(({ name, is_project_label }: { name: string; is_project_label: boolean }) => [
      name,
      is_project_label,
    ]),
    [['wide', true]],
  );
});

test('lists the groups into which a group can move', async () => {
  const [top, target] = [await ownedGroup(), await ownedGroup()];
  const group = await seedGroup(gantry, { parent: top.id });
  const below = await seedGroup(gantry, { parent: group.id });
  const list = async (search: string) =>
    (
      await gantry.api(`GET /groups/${group.id}/transfer_locations?per_page=100&search=${search}`, {
        as: owner.token,
      })
    ).body.map(({ id }: { id: number }) => id);
  const all = await list('');
  assert.ok(all.includes(target.id));
  for (const { id } of [top, group, below]) assert.ok(!all.includes(id));
  assert.deepEqual(await list(target.path), [target.id]);
});
