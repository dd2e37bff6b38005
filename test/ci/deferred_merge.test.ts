/** Merge when the pipeline succeeds, with a runner that takes and ends the jobs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../support/seed_merge_requests.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type Peer, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let project: Coded;
let peer: Peer;

const file =
  'stages: [build, test]\nbuild: { stage: build, script: make }\ntest: { stage: test, script: make test }\n';

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': file }, { message: 'Run jobs [ci skip]' });
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  peer = makePeer(gantry, { token: runner.token });
});
after(async () => {
  peer.close();
  await gantry.close();
});

const deferred = async (branch: string): Promise<Request> => {
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  await settle(gantry);
  const { status, body } = await merge(gantry, request, { merge_when_pipeline_succeeds: true });
  assert.equal(status, 200);
  assert.deepEqual([body.state, body.merge_when_pipeline_succeeds], ['opened', true]);
  return request;
};

const endJob = async (state: 'success' | 'failed'): Promise<void> => {
  const job = await peer.take();
  await peer.finish(job, state);
  await settle(gantry);
};

const stateOf = async (request: Request): Promise<string> => (await readRequest(gantry, request)).state;

const todos = async (action: string): Promise<number[]> =>
  ((await gantry.api(`GET /todos?action=${action}`)).body as { target: { iid: number } }[]).map(
    ({ target }) => target.iid,
  );

test('merges when the last job has succeeded, not before', async () => {
  const request = await deferred('green');
  await endJob('success');
  assert.equal(await stateOf(request), 'opened');
  await endJob('success');
  assert.equal(await stateOf(request), 'merged');
  // The merge is a push to main: its pipeline runs to its end.
  await endJob('success');
  await endJob('success');
});

test('keeps the request open when a job fails, and notifies the author', async () => {
  const request = await deferred('red');
  await endJob('failed');
  assert.equal(await stateOf(request), 'opened');
  assert.deepEqual(await todos('build_failed'), [request.iid]);
});

test("cancels the deferred merge on a push: the replaced commit's pipeline merges nothing", async () => {
  const request = await deferred('pushed');
  const job = await peer.take();
  await seedBranch(gantry, project, 'pushed', { files: { 'more.txt': 'more\n' } });
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, false);
  await peer.finish(job, 'success');
  for (let left = 3; left > 0; left -= 1) await endJob('success');
  assert.equal(await stateOf(request), 'opened');
});

test('refuses to merge a request with a failed pipeline if the project requires success', async () => {
  const columns = { only_allow_merge_if_pipeline_succeeds: true };
  assert.equal((await gantry.api(`PUT /projects/${project.id}`, { json: columns })).status, 200);
  await seedBranch(gantry, project, 'strict');
  const request = await openRequest(gantry, project, 'strict');
  await settle(gantry);
  assert.equal((await merge(gantry, request)).status, 405);
  await endJob('success');
  await endJob('success');
  assert.equal((await merge(gantry, request)).status, 200);
});
