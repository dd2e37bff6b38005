/** Tests the Commits and Pipelines tabs of a merge request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let reporter: SeededVisitor;
let path: string;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await seedBranch(gantry, project, 'topic', {
    files: { '.gitlab-ci.yml': 'job: { script: x, rules: [{ if: $CI_MERGE_REQUEST_IID }] }\n' },
    message: 'Add <b>jobs</b>',
  });
  for (const name of ['two', 'three']) {
    await seedCommit(gantry, project.id, { [name]: 'x' }, { branch: 'topic', from: 'topic', message: name });
  }
  const { iid, sha } = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  path = `/${project.full_path}/merge_requests/${iid}`;
  await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref: 'topic', sha });
});
after(async () => await gantry.close());

test('lists the commits, the newest first, with their pipelines', async () => {
  const { status, text } = await reporter.visitor.get(`${path}/commits`);
  assert.equal(status, 200);
  assert.match(text, /three<\/a>[\s\S]+pipelines\/\d+[\s\S]+Pending[\s\S]+two<\/a>[\s\S]+Add &lt;b&gt;jobs/);
  assert.match(text, /Commits <span class="count">3<\/span>/);
  const second = (await reporter.visitor.get(`${path}/commits?per_page=2&page=2`)).text;
  assert.doesNotMatch(second, /three<\/a>/);
  assert.match(second, /Add &lt;b&gt;jobs[\s\S]+Previous/);
});

test('lists the pipelines, and runs one', async () => {
  const before = (await developer.visitor.get(`${path}/pipelines`)).text;
  assert.match(before, /id="pipelines" data-part data-live=""[\s\S]+Pending[\s\S]+topic/);
  const total = Number(/Pipelines <span class="count">(\d+)</.exec(before)?.[1]);
  assert.equal((await reporter.visitor.post(`${path}/pipelines`)).status, 403);
  const run = await developer.visitor.post(`${path}/pipelines`);
  assert.equal(run.location, `${path}/pipelines`);
  const { text } = await developer.visitor.get(`${path}/pipelines`);
  assert.match(text, new RegExp(`Pipelines <span class="count">${total + 1}<`));
  assert.match(text, /merge request event/);
  assert.doesNotMatch((await reporter.visitor.get(`${path}/pipelines`)).text, /Run pipeline/);
});

test('says why no pipeline runs, and hides pipelines from those who may not see them', async () => {
  await seedBranch(gantry, project, 'plain');
  const { iid } = await openRequest(gantry, project, 'plain');
  await settle(gantry);
  const other = `/${project.full_path}/merge_requests/${iid}/pipelines`;
  assert.match((await developer.visitor.get(other)).text, /No pipelines/);
  const refused = await developer.visitor.post(other);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /role="alert">[^<]+</);
  await gantry.api(`PUT /projects/${project.id}`, { json: { public_builds: false } });
  const anonymous = (await openVisitor(gantry).get(`${path}/pipelines`)).text;
  assert.match(anonymous, /not visible to you/);
  assert.match(anonymous, /Pipelines<\/a>/);
});
