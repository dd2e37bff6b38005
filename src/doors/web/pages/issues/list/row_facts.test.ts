/** Tests the facts that rows of issues and the page of an issue show of their surroundings. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../../../../test/support/seed.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let visitor: Visitor;
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  ({ visitor } = await seedVisitor(gantry, { project: project.id, access_level: 30 }));
});
after(async () => await gantry.close());

const create = async (json: object): Promise<number> => {
  const { status, body } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
  assert.equal(status, 201);
  return body.iid;
};

test('rows show comments, milestone, and merge requests that close the issue', async () => {
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v<1>' } });
  const iid = await create({ title: 'Busy', milestone_id: milestone.body.id });
  const quiet = await create({ title: 'Quiet' });
  for (const body of ['One', 'Two', 'Three'])
    await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes`, { json: { body } });
  for (const branch of ['a', 'b']) {
    await seedBranch(gantry, project, branch);
    await openRequest(gantry, project, branch, { description: `Closes #${iid}` });
  }
  const { text } = await visitor.get(`/${project.full_path}/issues`);
  const rowOf = (of: number): string =>
    text.split('<li><span class="lead').find((row) => row.includes(`/issues/${of}"`)) ?? '';
  assert.match(rowOf(iid), /title="Milestone">[^]*?v&lt;1&gt;/);
  assert.match(rowOf(iid), /title="Merge requests">[^]*?<\/svg> 2</);
  assert.match(rowOf(iid), /title="3 comments">[^]*?<\/svg> 3</);
  assert.match(rowOf(quiet), /title="0 comments">/);
  assert.doesNotMatch(rowOf(quiet), /title="(?:Milestone|Merge requests)"/);
});

test('the page of an issue names its participants', async () => {
  const [bob, eve] = [await seedUser(gantry, { name: 'Bob <i>' }), await seedUser(gantry, { name: 'Eve' })];
  for (const user of [bob, eve])
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 20 });
  const iid = await create({ title: 'Talk' });
  for (const user of [bob, eve])
    await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes`, {
      json: { body: 'Yes' },
      as: user.token,
    });
  const { text } = await visitor.get(`/${project.full_path}/issues/${iid}`);
  const people = /3 participants<[^]*?<div class="row people">([^]*?)<\/div>/.exec(text)?.[1] ?? '';
  assert.ok(people.includes(`<a href="/${bob.username}" title="Bob &lt;i&gt;">`), people);
  assert.match(people, /<span class="visually-hidden">Bob &lt;i&gt;<\/span>/);
  assert.match(people, /<span class="visually-hidden">Eve<\/span>/);
});

test('projects show their visibility in lists and in their header', async () => {
  for (const visibility of ['public', 'internal', 'private'] as const) {
    const one = await seedProject(gantry, { visibility });
    const member = await seedVisitor(gantry, { project: one.id, access_level: 30 });
    const mark = new RegExp(`Visibility: ${visibility}`);
    assert.match((await member.visitor.get('/dashboard/projects')).text, mark, visibility);
    assert.match((await member.visitor.get(`/${one.full_path}`)).text, mark, visibility);
  }
});
