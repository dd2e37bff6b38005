/** Retried downstream pipelines and the jobs that started them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { followDownstream } from '../../src/ci/pipelines/downstream/follow_downstream.ts';
import { setPipeline } from '../support/ci/jobs.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream } from './downstream.ts';

let gantry: TestService;
let project: Upstream;
before(async () => {
  gantry = await startTestService();
  project = await makeUpstream(gantry);
});
after(async () => {
  project.peer.close();
  await gantry.close();
});

test('keeps a trigger job that ended otherwise first, and continues what waits', async () => {
  await project.push({
    '.gitlab-ci.yml': `part: { trigger: { include: child.yml, strategy: depend } }
later: { stage: deploy, script: x }`,
    'child.yml': 'inner: { script: make }',
  });
  await project.run('failed');
  const { part } = await project.bridges();
  assert.equal(part.status, 'failed');
  const { store } = gantry.service.platform;
  const look = async (): Promise<void> => {
    await followDownstream(store, part.id, project.developer.id);
    await settle(gantry);
  };
  await look();
  assert.equal((await project.bridges()).part.finished_at, part.finished_at);
  // It ran again and ended while the work that reports both was pending.
  await setPipeline(gantry, part.downstream_pipeline.id, { status: 'success' });
  await look();
  assert.equal((await project.bridges()).part.status, 'success');
  assert.equal((await project.run()).body.job_info.name, 'later');
  assert.equal((await project.newest()).status, 'success');
});

test('runs the job in the upstream project again for users who may do so there', async () => {
  const lib = await makeUpstream(gantry, { visibility: 'public' });
  await lib.push('work: { script: x, rules: [{ if: "$FROM" }] }');
  await project.push(`call:
  variables: { FROM: app }
  trigger: { project: ${lib.full_path}, strategy: depend }
later: { stage: deploy, script: x }`);
  const failed = await lib.run('failed');
  const unprotect = async ({ path }: Upstream): Promise<void> => {
    assert.equal((await gantry.api(`DELETE ${path}/protected_branches/main`)).status, 204);
  };
  await unprotect(lib);
  const states = async (): Promise<string[]> => {
    const { id, status } = await project.newest();
    const jobs = await gantry.api(`GET ${project.path}/pipelines/${id}/jobs`);
    return [(await project.bridges()).call.status, jobs.body[0].status, status];
  };
  assert.deepEqual(await states(), ['failed', 'skipped', 'failed']);
  // The user is a developer of the other project alone.
  const { status, body } = await lib.post(`jobs/${failed.id}/retry`, lib.developer.token);
  assert.equal(status, 201);
  assert.deepEqual(await states(), ['failed', 'skipped', 'failed']);
  const both = { user_id: project.developer.id, access_level: 30 };
  assert.equal((await gantry.api(`POST ${lib.path}/members`, { json: both })).status, 201);
  assert.equal((await lib.post(`jobs/${body.id}/cancel`)).status, 201);
  assert.equal((await lib.post(`jobs/${body.id}/retry`, project.developer.token)).status, 201);
  // The branch of the job is protected against this user.
  assert.deepEqual(await states(), ['failed', 'skipped', 'failed']);
  await unprotect(project);
  await lib.run('failed');
  const [{ id }] = await lib.pipelines();
  await lib.post(`pipelines/${id}/retry`, project.developer.token);
  assert.deepEqual(await states(), ['running', 'created', 'running']);
  await lib.run();
  assert.deepEqual(await states(), ['success', 'pending', 'running']);
  lib.peer.close();
});
