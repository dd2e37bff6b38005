import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedGroup, seedIssue, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;
before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
});
after(async () => await gantry.close());

const api = async (line: string, json?: object): Promise<Reply> =>
  await gantry.api(line, { as: owner.token, ...(json && { json }) });

const milestone = async (path: string, title: string): Promise<{ id: number }> => {
  const { status, body } = await api(`POST ${path}/milestones`, { title });
  assert.equal(status, 201);
  return body;
};

const titles = ({ body }: Reply): string[] => body.milestones.map(({ title }: { title: string }) => title);

test('lists milestones of the project and its ancestor groups with their progress', async () => {
  const group = await seedGroup(gantry, { owner: owner.id });
  const project = await seedProject(gantry, { namespace: group.id });
  await seedCommit(gantry, project.id, { 'a.txt': 'a' });
  const path = `/projects/${project.id}`;
  const [own, above] = [await milestone(path, 'Own'), await milestone(`/groups/${group.id}`, 'Above')];
  const issue = { project: project.id, milestone: own.id, author: owner.id };
  await seedIssue(gantry, issue);
  await seedIssue(gantry, { ...issue, state: 'closed' });
  await seedIssue(gantry, { ...issue, confidential: 1 });
  const made = await api(`POST ${path}/releases`, { tag_name: 'v1', ref: 'main', milestones: ['Own'] });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(titles(made), ['Own']);
  const [told] = made.body.milestones;
  assert.deepEqual([told.id, told.issue_stats], [own.id, { total: 2, closed: 1 }]);
  const changed = await api(`PUT ${path}/releases/v1`, { milestone_ids: [above.id] });
  assert.deepEqual([changed.status, titles(changed)], [200, ['Above']], changed.text);
  const kept = await api(`PUT ${path}/releases/v1`, { description: 'More' });
  assert.deepEqual(titles(kept), ['Above']);
  const both = await api(`PUT ${path}/releases/v1`, { milestones: ['Own', 'Above'] });
  assert.deepEqual(titles(both), ['Own', 'Above']);
  const [listed] = (await api(`GET ${path}/releases`)).body;
  assert.deepEqual(listed.milestones, both.body.milestones);
  const elsewhere = await seedProject(gantry);
  const foreign = await gantry.api(`POST /projects/${elsewhere.id}/milestones`, {
    json: { title: 'Foreign' },
  });
  for (const wrong of [
    { milestones: ['Foreign'] },
    { milestone_ids: [foreign.body.id] },
    { milestone_ids: [0] },
  ]) {
    const { status, body } = await api(`PUT ${path}/releases/v1`, wrong);
    assert.equal(status, 400);
    assert.match(body.message, /^Milestone\(s\) not found: /);
  }
  assert.deepEqual(titles(await api(`GET ${path}/releases/v1`)), ['Own', 'Above'], 'nothing has changed');
  const none = await api(`PUT ${path}/releases/v1`, { milestones: [] });
  assert.deepEqual(titles(none), []);
});

test('shows milestones of a release only to users who may read them', async () => {
  const project = await seedProject(gantry, { owner: owner.id });
  await seedCommit(gantry, project.id, { 'a.txt': 'a' });
  const path = `/projects/${project.id}`;
  await milestone(path, 'Own');
  await api(`POST ${path}/releases`, { tag_name: 'v1', ref: 'main', milestones: ['Own'] });
  const hidden = { issues_access_level: 'private', merge_requests_access_level: 'private' };
  assert.equal((await api(`PUT ${path}`, hidden)).status, 200);
  const readTitles = async (as: string) => titles(await gantry.api(`GET ${path}/releases/v1`, { as }));
  assert.deepEqual(await readTitles(owner.token), ['Own']);
  assert.deepEqual(await readTitles((await seedUser(gantry)).token), []);
});
