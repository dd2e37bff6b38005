/** Rights by shared groups: none of them outlives the share, its last day, the membership or the group. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedGroup, seedIssue, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { seedVisitor } from '../support/seed_visitor.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const access = async (project: number, as: string): Promise<number> =>
  (await gantry.api(`GET /projects/${project}`, { as })).status;

/** A private project that is shared with a group, and a member of that group whose credentials have been used. */
const newShare = async (share: object = {}) => {
  const [home, group] = [
    await seedGroup(gantry, { visibility: 'private' }),
    await seedGroup(gantry, { visibility: 'private' }),
  ];
  const project = await seedProject(gantry, { namespace: home.id, visibility: 'private' });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, group: group.id, access_level: 40 });
  const path = `/projects/${project.id}`;
  const json = { group_id: group.id, group_access: 30, ...share };
  const made = await gantry.api(`POST ${path}/share`, { json });
  assert.equal(made.status, 201, made.text);
  // Twice, so that nothing that the first use records falls together with the loss of the right.
  for (let use = 0; use < 2; use += 1) assert.equal(await access(project.id, user.token), 200);
  return { home, group, project, user, path };
};

it('ends at once when the share ends, for requests, pages and git', async () => {
  const { project, path, group, user } = await newShare();
  const { visitor } = await seedVisitor(gantry, { group: group.id, access_level: 40 });
  const page = `/${project.full_path}`;
  const refs = `${page}.git/info/refs?service=git-upload-pack`;
  for (let use = 0; use < 2; use += 1) assert.equal((await visitor.get(page)).status, 200);
  const git = async (): Promise<number> =>
    (
      await fetch(gantry.url + refs, {
        headers: { authorization: `Basic ${btoa(`${user.username}:${user.token}`)}` },
      })
    ).status;
  assert.equal(await git(), 200);
  assert.equal((await gantry.api(`DELETE ${path}/share/${group.id}`)).status, 204);
  assert.deepEqual([await access(project.id, user.token), (await visitor.get(page)).status], [404, 404]);
  assert.equal(await git(), 404);
});

it('begins at once where the credentials were used before', async () => {
  const { project, path, group, user } = await newShare();
  await gantry.api(`DELETE ${path}/share/${group.id}`);
  for (let use = 0; use < 2; use += 1) assert.equal(await access(project.id, user.token), 404);
  await gantry.api(`POST ${path}/share`, { json: { group_id: group.id, group_access: 20 } });
  assert.equal(await access(project.id, user.token), 200);
});

it('is listed nowhere after its last day, and can be granted again', async () => {
  const { project, path, group, user, home } = await newShare({ expires_at: '2100-01-01' });
  const ofGroup = { group_id: group.id, group_access: 20, expires_at: '2100-01-01' };
  assert.equal((await gantry.api(`POST /groups/${home.id}/share`, { json: ofGroup })).status, 201);
  const ids = async (line: string, as?: string): Promise<number[]> =>
    (await gantry.api(`GET ${line}`, as === undefined ? {} : { as })).body.map(
      ({ id }: { id: number }) => id,
    );
  gantry.setTime(Date.UTC(2100, 0, 2));
  try {
    assert.equal(await access(project.id, user.token), 404);
    assert.deepEqual((await gantry.api(`GET ${path}`)).body.shared_with_groups, []);
    assert.deepEqual((await gantry.api(`GET /groups/${home.id}`)).body.shared_with_groups, []);
    assert.deepEqual(await ids(`${path}/invited_groups`), []);
    assert.deepEqual(await ids(`/groups/${group.id}/projects/shared`), []);
    const again = await gantry.api(`POST ${path}/share`, { json: { group_id: group.id, group_access: 10 } });
    assert.equal(again.status, 201, again.text);
    assert.equal(await access(project.id, user.token), 200);
  } finally {
    gantry.setTime(null);
  }
});

it('ends at once with the group', async () => {
  const { project, group, user } = await newShare();
  assert.equal((await gantry.api(`DELETE /groups/${group.id}`)).status, 202);
  assert.equal(await access(project.id, user.token), 404);
  const issue = await gantry.api(`POST /projects/${project.id}/issues`, {
    json: { title: 'x', description: `@${user.username}`, assignee_ids: [user.id] },
  });
  assert.deepEqual(issue.body.assignees, []);
});

it('ends everywhere that a user sees the project: lists, search, todos, events, boards, changes', async () => {
  const { project, path, group, user } = await newShare();
  const word = unique('needle');
  const issue = await seedIssue(gantry, { project: project.id, title: word });
  await gantry.api(`POST ${path}/issues/${issue.iid}/notes`, { json: { body: `@${user.username} ${word}` } });
  const counts = async () => {
    const size = async (line: string): Promise<number> =>
      (await gantry.api(`GET ${line}`, { as: user.token })).body.length;
    const changes = await gantry.api('GET /changes?after=0&per_page=100', { as: user.token });
    const ofProject = (changes.body.changes ?? changes.body).filter(
      ({ project_id }: { project_id: number }) => project_id === project.id,
    );
    return [
      await size(`/search?scope=issues&search=${word}`),
      await size('/todos'),
      await size(`/issues?scope=all&search=${word}`),
      await size('/projects?membership=true'),
      Math.min(ofProject.length, 1),
    ];
  };
  assert.deepEqual(await counts(), [1, 1, 1, 1, 1]);
  await gantry.api(`DELETE ${path}/share/${group.id}`);
  assert.deepEqual(await counts(), [0, 0, 0, 0, 0]);
});

it('gives an assignee of a board by a shared group, and none by an expired membership', async () => {
  const { home, user } = await newShare();
  const board = (await gantry.api(`POST /groups/${home.id}/boards`, { json: { name: 'x' } })).body;
  const assign = async ({ id }: { id: number }): Promise<number> =>
    (await gantry.api(`PUT /groups/${home.id}/boards/${board.id}`, { json: { assignee_id: id } })).status;
  assert.equal(await assign(user), 200, 'sees a project of the group');
  const other = await seedUser(gantry);
  assert.equal(await assign(other), 400);
  const member = await seedUser(gantry);
  const json = { user_id: member.id, access_level: 20, expires_at: '2100-01-01' };
  assert.equal((await gantry.api(`POST /groups/${home.id}/members`, { json })).status, 201);
  gantry.setTime(Date.UTC(2100, 0, 2));
  try {
    assert.equal(await assign(member), 400);
  } finally {
    gantry.setTime(null);
  }
});
