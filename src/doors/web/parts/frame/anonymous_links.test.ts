/** Anonymous visitors see the statuses of public pipelines, and no link that only leads to the form to sign in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setPipeline } from '../../../../../test/support/ci/jobs.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let anonymous: Visitor;
let stranger: Visitor;
let pages: string[];
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  anonymous = openVisitor(gantry);
  ({ visitor: stranger } = await seedVisitor(gantry));
  await seedBranch(gantry, project, 'topic');
  const { iid, sha } = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  const file = 'job: { script: x }';
  for (const [ref, id] of [
    ['topic', sha],
    ['main', project.first],
  ] as const) {
    const pipeline = await seedPipeline(gantry, { project: project.id, file, ref, sha: id });
    await setPipeline(gantry, pipeline.id, { status: 'failed' });
  }
  const { body } = await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v1 <b>' } });
  const release = { tag_name: 'v1', ref: 'main', description: 'x', milestones: [body.title] };
  await gantry.api(`POST /projects/${project.id}/releases`, { json: release });
  await gantry.api(`PUT /projects/${project.id}`, { json: { topics: ['anonymous'] } });
  await settle(gantry);
  const base = `/${project.full_path}`;
  pages = [
    base,
    `${base}/-/commits/main`,
    `${base}/commit/${sha}`,
    `${base}/-/branches`,
    `${base}/merge_requests`,
    `${base}/merge_requests/${iid}`,
    `${base}/merge_requests/${iid}/commits`,
    `${base}/merge_requests/${iid}/pipelines`,
    '/explore',
    '/explore/projects/topics/anonymous',
  ];
});
after(async () => await gantry.close());

/** Links to pages of the project that need an account. */
const closed = (): RegExp =>
  new RegExp(`href="/${project.full_path}/-/(?:pipelines|jobs|environments|milestones|labels)(?:["/?#]|$)`);

test('shows statuses of pipelines without links', async () => {
  for (const page of pages) {
    const { status, text } = await anonymous.get(page);
    assert.equal(status, 200, page);
    assert.doesNotMatch(text, closed(), page);
    assert.match(text, /Failed|failed/, page);
    const seen = await stranger.get(page);
    assert.match(seen.text, closed(), page);
  }
});

test('shows no milestones, which need an account', async () => {
  const page = `/${project.full_path}/-/releases`;
  assert.doesNotMatch((await anonymous.get(page)).text, closed());
  assert.match((await stranger.get(page)).text, /\/-\/milestones\/1"[^]+v1 &lt;b&gt;/);
});
