/** Tests the headers of each answer to a runner about its job. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { seedPushed } from '../../../test/support/ci/pipelines.ts';
import { makePeer, seedRunner } from '../../../test/support/ci/fake_runner.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('asks for the trace every second while somebody watches it', async () => {
  const project = await seedPushed(gantry);
  const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token });
  await project.push('a: { script: x }');
  const job = await peer.take();
  const interval = async (): Promise<unknown> => {
    const { status, headers } = await peer.trace(job, 'line\n');
    assert.equal(status, 202);
    return headers['x-gitlab-trace-update-interval'];
  };
  assert.equal(await interval(), '3');
  const looking = request(`${gantry.url}/-/jobs/${job.id}/trace/stream`, {
    headers: { 'private-token': rootToken },
  }).end();
  const [answer] = (await once(looking, 'response')) as [IncomingMessage];
  await once(answer, 'data');
  assert.equal(await interval(), '1');
  looking.destroy();
  while ((await interval()) === '1') await wait(10);
  assert.equal(await interval(), '3');
  peer.close();
});
