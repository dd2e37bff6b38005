/** Protected variables and runners serve only jobs of protected refs. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type Pushed, seedPushed } from '../support/ci/pipelines.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let project: Pushed;
let peer: Peer;
let careful: Peer;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const newPeer = async (access_level: 'not_protected' | 'ref_protected'): Promise<Peer> => {
  const { token } = await seedRunner(gantry, {
    runner_type: 'project_type',
    projects: [project.id],
    access_level,
  });
  return makePeer(gantry, { token });
};

const file = `
stages: [one, two]
build: { stage: one, script: make }
ask: { stage: one, script: ask, when: manual, allow_failure: true }
deploy: { stage: two, script: deploy }
`;
const delayed = 'wait: { script: wait, when: delayed, start_in: 1 day }';

beforeEach(async () => {
  project = await seedPushed(gantry);
  const json = { key: 'SECRET', value: 'for protected refs', protected: true };
  const made = await gantry.api(`POST ${project.path}/variables`, { json });
  assert.equal(made.status, 201, made.text);
  [peer, careful] = [await newPeer('not_protected'), await newPeer('ref_protected')];
});

const protect = async (isProtected: boolean): Promise<void> => {
  const path = `${project.path}/protected_branches`;
  const { status } = isProtected
    ? await gantry.api(`POST ${path}`, { json: { name: 'main' } })
    : await gantry.api(`DELETE ${path}/main`);
  assert.equal(status, isProtected ? 201 : 204);
};

const act = async (name: string, action: 'retry' | 'play', as?: string): Promise<void> => {
  const jobs = (await gantry.api(`GET ${project.path}/jobs`)).body;
  const { id } = jobs.find((one: { name: string }) => one.name === name);
  const { status, text } = await gantry.api(`POST ${project.path}/jobs/${id}/${action}`, as ? { as } : {});
  assert.equal(status, 201, text);
};

/** The protected items that a job received. */
const receivedValues = ({ body }: PeerJob) => {
  const variables = new Map(
    body.variables.map(({ key, value }: { key: string; value: string }) => [key, value]),
  );
  return [body.git_info.protected, variables.get('SECRET') ?? null, variables.get('CI_COMMIT_REF_PROTECTED')];
};

const all = [true, 'for protected refs', 'true'];
const none = [false, null, 'false'];

test('decides for a retried job by the present protection of its ref', async () => {
  await project.push(file);
  const first = await peer.take();
  assert.deepEqual(receivedValues(first), all);
  await peer.run(first, { state: 'failed' });
  await protect(false);
  await act('build', 'retry', project.developer.token);
  assert.equal(await careful.request(), null);
  const second = await peer.take();
  assert.deepEqual(receivedValues(second), none);
  await protect(true);
  await peer.run(second, { state: 'failed' });
  await act('build', 'retry');
  assert.deepEqual(receivedValues(await careful.take()), all);
});

test('decides for a played job in the same way', async () => {
  await project.push(file);
  const build = await peer.take();
  await protect(false);
  await act('ask', 'play', project.developer.token);
  assert.equal(await careful.request(), null);
  const played = await peer.take();
  assert.deepEqual(receivedValues(played), none);
  // Later jobs are as unprotected.
  for (const job of [played, build]) await peer.run(job);
  assert.deepEqual(receivedValues(await peer.take()), none);
});

test('decides for a delayed job that is played early in the same way', async () => {
  await project.push(delayed);
  await protect(false);
  await act('wait', 'play', project.developer.token);
  assert.deepEqual(receivedValues(await peer.take()), none);
});

test('decides for a whole retried pipeline, with its skipped jobs', async () => {
  await project.push(file);
  await peer.run(await peer.take(), { state: 'failed' });
  await protect(false);
  const [{ id }] = await project.pipelines();
  const as = project.developer.token;
  assert.equal((await gantry.api(`POST ${project.path}/pipelines/${id}/retry`, { as })).status, 201);
  const build = await peer.take();
  assert.deepEqual(receivedValues(build), none);
  await peer.run(build);
  const deploy = await peer.take();
  assert.deepEqual([deploy.body.job_info.name, ...receivedValues(deploy)], ['deploy', ...none]);
});

test('decides for an automatic retry', async () => {
  await project.push('build: { script: make, retry: 1 }');
  const first = await peer.take();
  await protect(false);
  await peer.run(first, { state: 'failed' });
  assert.deepEqual(receivedValues(await peer.take()), none);
});

test('keeps the decision for jobs that already wait for a runner', async () => {
  await project.push(file);
  await protect(false);
  assert.deepEqual(receivedValues(await careful.take()), all);
});

test("does not trust a fork's merge request, even if the target project is deleted", async () => {
  const upstream = await seedPushed(gantry);
  await upstream.push({ 'README.md': 'Read me' });
  const forked = await gantry.api(`POST ${upstream.path}/fork`, { json: { path: 'fork', name: 'fork' } });
  assert.equal(forked.status, 201, forked.text);
  await settle(gantry);
  project = { ...project, id: forked.body.id, path: `/projects/${forked.body.id}` };
  const secret = { key: 'SECRET', value: 'for protected refs', protected: true };
  assert.equal((await gantry.api(`POST ${project.path}/variables`, { json: secret })).status, 201);
  const only = "job: { script: x, rules: [{ if: $CI_PIPELINE_SOURCE == 'merge_request_event' }] }";
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': only }, { branch: 'topic', from: 'main' });
  const json = {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'A fork',
    target_project_id: upstream.id,
  };
  assert.equal((await gantry.api(`POST ${project.path}/merge_requests`, { json })).status, 201);
  await settle(gantry);
  peer = await newPeer('not_protected');
  const first = await peer.take();
  assert.deepEqual(receivedValues(first), none);
  await peer.run(first, { state: 'failed' });
  assert.equal((await gantry.api(`DELETE ${upstream.path}`)).status, 202);
  await settle(gantry);
  assert.equal(
    (await gantry.api(`POST ${project.path}/protected_branches`, { json: { name: 'topic' } })).status,
    201,
  );
  await act('job', 'retry');
  assert.deepEqual(receivedValues(await peer.take()), none);
});
