/** Lists of issues and merge requests of project and group milestones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
  unique,
} from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Titled = { title: string };

const titles = async (line: string, as?: string): Promise<string[]> => {
  const { status, body, headers, text } = await gantry.api(`GET ${line}`, as === undefined ? {} : { as });
  assert.equal(status, 200, text);
  assert.equal(headers.get('x-total'), String(body.length));
  return body.map(({ title }: Titled) => title);
};

const milestone = async (owner: string): Promise<number> =>
  (await gantry.api(`POST ${owner}/milestones`, { json: { title: unique('milestone') } })).body.id;

test('lists the visible issues and merge requests of a milestone', async () => {
  const group = await seedGroup(gantry);
  const guest = await seedUser(gantry);
  const project = await seedProject(gantry, { namespace: group.id });
  const hidden = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
  const of = `/projects/${project.id}`;
  const [own, shared] = [await milestone(of), await milestone(`/groups/${group.id}`)];
  const at = { project: project.id };
  await seedIssue(gantry, { ...at, title: 'one', milestone: own, state: 'closed' });
  await seedIssue(gantry, { ...at, title: 'two', milestone: own });
  await seedIssue(gantry, { ...at, title: 'secret', milestone: own, confidential: 1 });
  await seedIssue(gantry, { ...at, title: 'gone', milestone: own, deleted: true });
  await seedIssue(gantry, { ...at, title: 'of the group', milestone: shared });
  await seedIssue(gantry, { project: hidden.id, title: 'elsewhere', milestone: shared });
  await seedIssue(gantry, { ...at, title: 'without' });
  await seedMergeRequest(gantry, { ...at, title: 'first', milestone: own, state: 'merged' });
  await seedMergeRequest(gantry, { ...at, title: 'second', milestone: shared });
  await seedMergeRequest(gantry, { ...at, title: 'third' });
  const here = `${of}/milestones/${own}`;
  const there = `/groups/${group.id}/milestones/${shared}`;
  assert.deepEqual(await titles(`${here}/issues`), ['secret', 'two', 'one']);
  assert.deepEqual(await titles(`${here}/issues`, guest.token), ['two', 'one']);
  assert.deepEqual(await titles(`${here}/merge_requests`, guest.token), ['first']);
  assert.deepEqual(await titles(`${there}/issues`), ['elsewhere', 'of the group']);
  assert.deepEqual(await titles(`${there}/issues`, guest.token), ['of the group']);
  assert.deepEqual(await titles(`${there}/merge_requests`), ['second']);
  const page = await gantry.api(`GET ${here}/issues?per_page=1&page=2`);
  assert.deepEqual([page.body[0].title, page.headers.get('x-total')], ['two', '3']);
  for (const path of [
    `${of}/milestones/${shared}/issues`,
    `${of}/milestones/${shared}/merge_requests`,
    `/groups/${group.id}/milestones/${own}/issues`,
    `/groups/${group.id}/milestones/${own}/merge_requests`,
    `/projects/${hidden.id}/milestones/${own}/issues`,
  ]) {
    const { status, body } = await gantry.api(`GET ${path}`);
    assert.deepEqual([status, body], [404, { message: '404 Not found' }], path);
  }
});
