/** @gitbeaker/rest, unmodified, with jobs that a runner runs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { settle } from '../support/seed_merge_requests.ts';
import { type Peer, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let root: InstanceType<typeof Gitlab<false>>;
let peer: Peer;
const project = 'root/engine';

const file = `
stages: [build, deploy]
compile: { stage: build, script: make }
publish: { stage: deploy, script: make publish, when: manual }
`;

before(async () => {
  gantry = await startTestService();
  root = new Gitlab({ host: gantry.url, token: rootToken });
  peer = makePeer(gantry, { token: (await seedRunner(gantry)).token });
  await root.Projects.create({ name: 'engine', visibility: 'public' });
  await root.RepositoryFiles.create(project, '.gitlab-ci.yml', 'main', file, 'First');
  await settle(gantry);
});
after(async () => {
  peer.close();
  await gantry.close();
});

const named = async (name: string) => {
  const jobs = await root.Jobs.all(project);
  const job = jobs.find((one) => one.name === name);
  assert.ok(job, name);
  return job;
};

test('jobs are listed, by status and by pipeline', async () => {
  const jobs = await root.Jobs.all(project);
  assert.deepEqual(jobs.map(({ name, status }) => `${name} ${status}`).toSorted(), [
    'compile pending',
    'publish created',
  ]);
  const pending = await root.Jobs.all(project, { scope: 'pending' });
  assert.deepEqual(
    pending.map(({ name }) => name),
    ['compile'],
  );
  const pipelineId = jobs[0]?.pipeline.id ?? 0;
  assert.equal((await root.Jobs.all(project, { pipelineId, includeRetried: true })).length, 2);
  assert.deepEqual(await root.Jobs.allPipelineBridges(project, pipelineId), []);
});

test('a job runs, and is run again', async () => {
  const { id } = await named('compile');
  await peer.run(await peer.take(), { log: 'It is made\n', state: 'failed' });
  const failed = await root.Jobs.show(project, id);
  assert.deepEqual([failed.status, failed.stage, failed.runner.is_shared], ['failed', 'build', true]);
  assert.equal(await root.Jobs.showLog(project, id), 'It is made\n');
  const again = await root.Jobs.retry(project, id);
  assert.notEqual(again.id, id);
  await peer.run(await peer.take());
  assert.equal((await root.Jobs.show(project, again.id)).status, 'success');
});

test('a manual one is played with variables, canceled, and erased', async () => {
  const { id, status } = await named('publish');
  assert.equal(status, 'manual');
  const jobVariablesAttributes = [{ key: 'TARGET', value: 'here' }];
  const played = await root.Jobs.play(project, id, { jobVariablesAttributes });
  assert.deepEqual([played.id, played.status], [id, 'started']);
  const taken = await peer.take();
  const variables = taken.body.variables as { key: string; value: string }[];
  assert.equal(variables.findLast(({ key }) => key === 'TARGET')?.value, 'here');
  assert.equal((await root.Jobs.cancel(project, id)).status, 'canceled');
  await peer.finish(taken);
  assert.equal((await root.Jobs.erase(project, id)).status, 'canceled');
});

test('a refusal is told in the words of the service', async () => {
  const { id } = await named('compile');
  await assert.rejects(root.Jobs.play(project, id, { jobVariablesAttributes: [] }), (error: Error) => {
    const { description } = error.cause as { description: string };
    assert.equal(description, '400 (Bad request) Unplayable Job');
    return true;
  });
});
