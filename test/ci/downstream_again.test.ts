/** Pipelines that run again, and the jobs that have started them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { followDownstream } from '../../src/pipelines/follow_downstream.ts';
import { setPipeline } from '../support/jobs.ts';
import { settle } from '../support/requests.ts';
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

test('one that has ended otherwise before its job looked: the job is as it is, and what waits goes on', async () => {
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
    await followDownstream(store, part.id, true);
    await settle(gantry);
  };
  await look();
  assert.equal((await project.bridges()).part.finished_at, part.finished_at);
  // It ran again and ended while the work that tells of both waited.
  await setPipeline(gantry, part.downstream_pipeline.id, { status: 'success' });
  await look();
  assert.equal((await project.bridges()).part.status, 'success');
  assert.equal((await project.run()).body.job_info.name, 'later');
  assert.equal((await project.newest()).status, 'success');
});
