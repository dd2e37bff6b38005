/** Sharing with groups: who gets which role, and where it ends. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const newGroup = async (parent?: number) =>
  await seedGroup(gantry, { visibility: 'private', ...(parent !== undefined && { parent }) });

const newMember = async (source: { group: number } | { project: number }, access_level: number) => {
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, access_level, ...source });
  return user;
};

const share = async (path: string, json: object, as?: string) =>
  await gantry.api(`POST ${path}/share`, { json, ...(as !== undefined && { as }) });

const levelOf = async (project: number, as: string): Promise<number> => {
  const { body } = await gantry.api('GET /projects?min_access_level=10&per_page=100', { as });
  if (!body.some(({ id }: { id: number }) => id === project)) return 0;
  for (const level of [50, 40, 30, 20])
    if (
      (await gantry.api(`GET /projects?min_access_level=${level}&per_page=100`, { as })).body.some(
        ({ id }: { id: number }) => id === project,
      )
    )
      return level;
  return 10;
};

it('gives members of the group, and of groups above it, a role in a project', async () => {
  const [above, owner] = [await newGroup(), await newGroup()];
  const group = await newGroup(above.id);
  const below = await newGroup(group.id);
  const project = await seedProject(gantry, { namespace: owner.id, visibility: 'private' });
  const path = `/projects/${project.id}`;
  const [guest, developer, inherited, outside] = [
    await newMember({ group: group.id }, 10),
    await newMember({ group: group.id }, 40),
    await newMember({ group: above.id }, 20),
    await newMember({ group: below.id }, 50),
  ];
  assert.equal((await gantry.api(`GET ${path}`, { as: developer.token })).status, 404);
  const made = await share(path, { group_id: group.id, group_access: 30, expires_at: '2100-01-01' });
  assert.deepEqual(
    [made.status, { ...made.body, id: 0 }],
    [201, { id: 0, project_id: project.id, group_id: group.id, group_access: 30, expires_at: '2100-01-01' }],
  );
  const levels = async () => [
    await levelOf(project.id, guest.token),
    await levelOf(project.id, developer.token),
    await levelOf(project.id, inherited.token),
    await levelOf(project.id, outside.token),
  ];
  assert.deepEqual(await levels(), [10, 30, 20, 0]);
  assert.equal((await gantry.api(`GET ${path}`, { as: outside.token })).status, 404);
  assert.equal((await gantry.api(`PUT ${path}`, { as: developer.token, json: { name: 'x' } })).status, 403);
  const issue = await gantry.api(`POST ${path}/issues`, {
    as: developer.token,
    json: {
      title: 'One',
      description: `@${inherited.username}`,
      confidential: true,
      assignee_ids: [guest.id],
    },
  });
  assert.deepEqual([issue.status, issue.body.assignees[0]?.id], [201, guest.id], issue.text);
  assert.equal((await gantry.api('GET /todos', { as: inherited.token })).body.length, 1);
  const { shared_with_groups } = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual(shared_with_groups, [
    {
      group_id: group.id,
      group_name: shared_with_groups[0].group_name,
      group_full_path: group.full_path,
      group_access_level: 30,
      expires_at: '2100-01-01',
    },
  ]);
  const ids = async (line: string, as: string): Promise<number[]> =>
    (await gantry.api(`GET ${line}`, { as })).body.map(({ id }: { id: number }) => id);
  assert.deepEqual(await ids(`${path}/invited_groups`, developer.token), [group.id]);
  assert.deepEqual(await ids(`/groups/${group.id}/projects/shared`, developer.token), [project.id]);
  assert.equal((await share(path, { group_id: group.id, group_access: 10 })).status, 409);

  gantry.setTime(Date.UTC(2100, 0, 2));
  assert.deepEqual(await levels(), [0, 0, 0, 0]);
  gantry.setTime(null);
  assert.equal((await gantry.api(`DELETE ${path}/share/${group.id}`)).status, 204);
  assert.deepEqual(await levels(), [0, 0, 0, 0]);
  assert.equal((await gantry.api(`DELETE ${path}/share/${group.id}`)).status, 404);
});

it('gives members of a group a role in another group, and in what is below it', async () => {
  const [shared, group] = [await newGroup(), await newGroup()];
  const below = await newGroup(shared.id);
  const project = await seedProject(gantry, { namespace: below.id, visibility: 'private' });
  const user = await newMember({ group: group.id }, 50);
  const made = await share(`/groups/${shared.id}`, { group_id: group.id, group_access: 20 });
  assert.deepEqual([made.status, made.body.shared_with_groups[0]?.group_id], [201, group.id], made.text);
  assert.equal(await levelOf(project.id, user.token), 20);
  assert.equal((await gantry.api(`GET /groups/${below.id}`, { as: user.token })).status, 200);
  const third = await newGroup();
  const stranger = await newMember({ group: third.id }, 50);
  await share(`/groups/${group.id}`, { group_id: third.id, group_access: 50 });
  assert.equal(await levelOf(project.id, stranger.token), 0, 'sharing is not transitive');
  await gantry.api(`DELETE /groups/${shared.id}/share/${group.id}`);
  assert.equal(await levelOf(project.id, user.token), 0);
});

it('needs the right to add members, a group that the caller sees, and no role above their own', async () => {
  const [owner, group, hidden] = [await newGroup(), await newGroup(), await newGroup()];
  const project = await seedProject(gantry, { namespace: owner.id, visibility: 'private' });
  const path = `/projects/${project.id}`;
  const master = await newMember({ project: project.id }, 40);
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 10 });
  const developer = await newMember({ project: project.id }, 30);
  const json = { group_id: group.id, group_access: 30 };
  assert.equal((await share(path, json, developer.token)).status, 403);
  assert.equal((await share(path, { ...json, group_id: hidden.id }, master.token)).status, 404);
  assert.equal((await share(path, { ...json, group_access: 50 }, master.token)).status, 400);
  assert.equal((await share(path, { ...json, group_access: 11 }, master.token)).status, 400);
  assert.equal((await share(path, { ...json, expires_at: '2000-01-01' }, master.token)).status, 400);
  assert.equal((await share(path, json, master.token)).status, 201);
  const { body } = await gantry.api(`GET ${path}`, { as: developer.token });
  assert.deepEqual(body.shared_with_groups, [], 'the group is hidden from them');
  assert.equal((await gantry.api(`DELETE ${path}/share/${group.id}`, { as: developer.token })).status, 403);
  const own = await share(`/groups/${owner.id}`, { group_id: owner.id, group_access: 10 });
  assert.equal(own.status, 400);
  await gantry.api(`PUT /groups/${owner.id}`, { json: { share_with_group_lock: true } });
  assert.equal((await share(path, { ...json, group_id: hidden.id })).status, 403);
});

it('lists members of shared groups among all members, with the lesser role and the earlier last day', async () => {
  const [above, group, home] = [await newGroup(), await newGroup(), await newGroup()];
  const project = await seedProject(gantry, { namespace: home.id, visibility: 'private' });
  const path = `/projects/${project.id}`;
  const [developer, guest, owner] = [
    await newMember({ group: group.id }, 30),
    await newMember({ group: above.id }, 10),
    await newMember({ group: home.id }, 50),
  ];
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 40 });
  await share(path, { group_id: group.id, group_access: 20, expires_at: '2100-01-01' });
  await share(`/groups/${home.id}`, { group_id: above.id, group_access: 50 });
  type Listed = { id: number; access_level: number; expires_at: string | null };
  const list = async (line: string): Promise<[number, number, string | null][]> =>
    (await gantry.api(`GET ${line}`)).body.map(({ id, access_level, expires_at }: Listed) => [
      id,
      access_level,
      expires_at,
    ]);
  assert.deepEqual(await list(`${path}/members/all`), [
    [developer.id, 20, '2100-01-01'],
    [guest.id, 10, null],
    [owner.id, 50, null],
  ]);
  assert.deepEqual(await list(`${path}/members`), []);
  assert.deepEqual(await list(`/groups/${home.id}/members/all`), [
    [guest.id, 10, null],
    [owner.id, 50, null],
  ]);
  const one = await gantry.api(`GET ${path}/members/all/${developer.id}`);
  assert.deepEqual([one.status, one.body.access_level], [200, 20]);
  assert.equal((await gantry.api(`GET ${path}/members/${developer.id}`)).status, 404);
  const users = (await gantry.api(`GET ${path}/users?search=${developer.username}`)).body;
  assert.deepEqual(
    users.map(({ id }: { id: number }) => id),
    [developer.id],
  );
  gantry.setTime(Date.UTC(2100, 0, 2));
  assert.deepEqual(
    (await list(`${path}/members/all`)).map(([id]) => id),
    [guest.id, owner.id],
  );
  gantry.setTime(null);
});

/** A group within a group, with a project; the project is shared with one group, the group above with another. */
const shareTwice = async () => {
  const [above, direct, inherited] = [await newGroup(), await newGroup(), await newGroup()];
  const home = await newGroup(above.id);
  const project = await seedProject(gantry, { namespace: home.id, visibility: 'private' });
  await share(`/projects/${project.id}`, { group_id: direct.id, group_access: 30 });
  await share(`/groups/${above.id}`, { group_id: inherited.id, group_access: 20 });
  return { above, home, direct, inherited, project };
};

const idsOf = async (line: string, as?: string): Promise<number[]> => {
  const { status, body, text } = await gantry.api(`GET ${line}`, as === undefined ? {} : { as });
  assert.equal(status, 200, text);
  return body.map(({ id }: { id: number }) => id).toSorted((a: number, b: number) => a - b);
};

it('lists invited groups by relation, by the role they got, and by the role of the caller', async () => {
  const { direct, inherited, project } = await shareTwice();
  const path = `/projects/${project.id}/invited_groups`;
  assert.deepEqual(await idsOf(path), [direct.id, inherited.id]);
  assert.deepEqual(await idsOf(`${path}?relation=direct`), [direct.id]);
  assert.deepEqual(await idsOf(`${path}?relation[]=inherited`), [inherited.id]);
  assert.deepEqual(await idsOf(`${path}?relation[]=inherited&relation[]=direct`), [direct.id, inherited.id]);
  assert.deepEqual(await idsOf(`${path}?shared_min_access_level=30`), [direct.id]);
  assert.equal((await gantry.api(`GET ${path}?relation=other`)).status, 400);
  const newestFirst = (await gantry.api(`GET ${path}?order_by=id&sort=desc`)).body;
  assert.deepEqual(
    newestFirst.map(({ id }: { id: number }) => id),
    [inherited.id, direct.id],
  );
  const user = await newMember({ group: direct.id }, 20);
  await seedMember(gantry, { user: user.id, group: inherited.id, access_level: 40 });
  assert.deepEqual(await idsOf(path, user.token), [direct.id, inherited.id]);
  assert.deepEqual(await idsOf(`${path}?min_access_level=30`, user.token), [inherited.id]);
  const stranger = await newMember({ project: project.id }, 30);
  assert.deepEqual(await idsOf(path, stranger.token), [], 'both groups are hidden from them');
  const answer = await gantry.api(`GET ${path}?with_custom_attributes=true`);
  assert.equal(answer.headers.get('gantry-ignored-parameters'), 'with_custom_attributes');
});

it('lists the groups of a project with those that it is shared with, on request', async () => {
  const { above, home, direct, project } = await shareTwice();
  const path = `/projects/${project.id}/groups`;
  assert.deepEqual(await idsOf(path), [above.id, home.id]);
  const all = [above.id, home.id, direct.id].toSorted((a, b) => a - b);
  assert.deepEqual(await idsOf(`${path}?with_shared=true`), all);
  assert.deepEqual(await idsOf(`${path}?with_shared=true&shared_min_access_level=30`), all);
  assert.deepEqual(await idsOf(`${path}?with_shared=true&shared_min_access_level=40`), [above.id, home.id]);
  const member = await newMember({ project: project.id }, 30);
  for (const visibleOnly of [true, false])
    assert.deepEqual(
      await idsOf(`${path}?with_shared=true&shared_visible_only=${visibleOnly}`, member.token),
      [above.id, home.id],
    );
});

it('lists the projects of a group with those that are shared with it', async () => {
  const group = await newGroup();
  const below = await newGroup(group.id);
  const [away, owned] = [await newGroup(), await seedProject(gantry, { namespace: group.id })];
  const [shared, sharedBelow] = [
    await seedProject(gantry, { namespace: away.id, visibility: 'private' }),
    await seedProject(gantry, { namespace: away.id, visibility: 'private' }),
  ];
  await share(`/projects/${shared.id}`, { group_id: group.id, group_access: 30 });
  await share(`/projects/${sharedBelow.id}`, { group_id: below.id, group_access: 30 });
  const path = `/groups/${group.id}/projects`;
  assert.deepEqual(await idsOf(path), [owned.id, shared.id]);
  assert.deepEqual(await idsOf(`${path}?with_shared=false`), [owned.id]);
  assert.deepEqual(await idsOf(`${path}?include_subgroups=true`), [owned.id, shared.id, sharedBelow.id]);
  assert.deepEqual(await idsOf(`${path}?include_subgroups=true&with_shared=false`), [owned.id]);
  assert.deepEqual(await idsOf(`${path}/shared`), [shared.id]);
  assert.deepEqual(await idsOf(`${path}/shared?include_subgroups=true`), [shared.id, sharedBelow.id]);
  assert.deepEqual(await idsOf(`${path}/shared?with_shared=true`), [shared.id]);
  assert.equal((await gantry.api(`GET ${path}/shared?with_shared=false`)).status, 400);
  const embedded = async (as?: string): Promise<number[][]> => {
    const { body } = await gantry.api(`GET /groups/${group.id}`, as === undefined ? {} : { as });
    return [body.projects, body.shared_projects].map((list) => list.map(({ id }: { id: number }) => id));
  };
  assert.deepEqual(await embedded(), [[owned.id], [shared.id]]);
  const member = await newMember({ group: group.id }, 10);
  assert.deepEqual(await embedded(member.token), [[owned.id], [shared.id]]);
  gantry.setTime(Date.UTC(2100, 0, 2));
  await gantry.api(`DELETE /projects/${shared.id}/share/${group.id}`);
  await share(`/projects/${shared.id}`, { group_id: group.id, group_access: 30, expires_at: '2100-01-03' });
  assert.deepEqual(await embedded(), [[owned.id], [shared.id]]);
  gantry.setTime(Date.UTC(2100, 0, 4));
  assert.deepEqual(await embedded(), [[owned.id], []]);
  gantry.setTime(null);
});

it('does not tell which projects are shared with a group that the caller does not see', async () => {
  const group = await seedGroup(gantry);
  const hidden = await newGroup(group.id);
  const project = await seedProject(gantry);
  await share(`/projects/${project.id}`, { group_id: hidden.id, group_access: 30 });
  const [member, stranger] = [await newMember({ group: hidden.id }, 10), await seedUser(gantry)];
  for (const path of [`/groups/${group.id}/projects`, `/groups/${group.id}/projects/shared`]) {
    assert.deepEqual(await idsOf(`${path}?include_subgroups=true`, member.token), [project.id]);
    assert.deepEqual(await idsOf(`${path}?include_subgroups=true`, stranger.token), [], path);
  }
});
