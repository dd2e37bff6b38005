/** Jobs that cannot run as configured fail with a reason, and their runner gets the next job. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import type { Peer } from '../support/ci/fake_runner.ts';
import { seedMember, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type CiProject, makeCiProject } from './project.ts';

let gantry: TestService;
const projects: CiProject[] = [];
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  gantry.setTime(null);
  for (const peer of peers) peer.close();
  await gantry.close();
  await Promise.all(projects.map(async ({ remove }) => await remove()));
});

const pushed = async (file: string): Promise<{ project: CiProject; peer: Peer }> => {
  const project = await makeCiProject(gantry);
  projects.push(project);
  const peer = await project.peer();
  peers.push(peer);
  await project.push(file);
  return { project, peer };
};

const file = `
stages: [build, test]
build: { stage: build, script: x, artifacts: { paths: [out] } }
gate: { stage: build, script: x, when: manual, allow_failure: false }
uses: { stage: test, script: x, dependencies: [build] }
alone: { stage: test, script: x, dependencies: [] }
`;

/** A pipeline of which all but the second stage has run; its archive is kept for an hour. */
const built = async (): Promise<{
  project: CiProject;
  peer: Peer;
  build: number;
  open: () => Promise<void>;
}> => {
  const { project, peer } = await pushed(file);
  const build = await peer.take();
  const announced = { type: 'archive', format: 'zip', expire_in: '1 hour' };
  assert.equal((await peer.upload(build, await buildZip({ out: 'made' }), announced)).status, 201);
  await peer.run(build);
  const open = async (): Promise<void> => {
    const { id } = await project.job('gate');
    assert.equal((await gantry.api(`POST ${project.at}/jobs/${id}/play`)).status, 201);
    await peer.run(await peer.take());
  };
  return { project, peer, build: build.id, open };
};

const statesAfter = async ({ project, peer }: { project: CiProject; peer: Peer }): Promise<string[]> => {
  const next = await peer.take();
  assert.equal(next.body.job_info.name, 'alone');
  await peer.run(next);
  assert.equal((await project.job('uses')).failure_reason, 'missing_dependency_failure');
  assert.equal((await project.newest()).status, 'failed');
  return await project.states();
};

const failed = ['build: success', 'gate: success', 'uses: failed', 'alone: success'];

test('fails a job whose needed artifacts have expired', async () => {
  const run = await built();
  gantry.setTime(Date.now() + 3_601_000);
  await run.open();
  assert.deepEqual(await statesAfter(run), failed);
  gantry.setTime(null);
});

test('fails a job whose needed artifacts were erased', async () => {
  const run = await built();
  const erased = await gantry.api(`POST ${run.project.at}/jobs/${run.build}/erase`);
  assert.equal(erased.status, 201);
  await run.open();
  assert.deepEqual(await statesAfter(run), failed);
});

test('runs a job whose artifacts were kept or never existed', async () => {
  const run = await built();
  assert.equal((await gantry.api(`POST ${run.project.at}/jobs/${run.build}/artifacts/keep`)).status, 201);
  gantry.setTime(Date.now() + 3_601_000);
  await run.open();
  const uses = await run.peer.take();
  gantry.setTime(null);
  assert.equal(uses.body.job_info.name, 'uses');
  assert.deepEqual(
    uses.body.dependencies.map(({ name }: { name: string }) => name),
    ['build'],
  );
  const { peer } = await pushed('a: { stage: build, script: x }\nb: { stage: test, script: x }');
  await peer.run(await peer.take());
  assert.deepEqual((await peer.take()).body.dependencies, []);
});

test('fails a job that needs external secrets, which are not supported', async () => {
  const { project, peer } = await pushed(`
first: { script: x, secrets: { PASSWORD: { vault: production/db/password } } }
second: { script: x, secrets: {} }
`);
  const job = await peer.take();
  assert.equal(job.body.job_info.name, 'second');
  await peer.run(job);
  assert.equal((await project.job('first')).failure_reason, 'secrets_provider_not_found');
  assert.deepEqual(await project.states(), ['first: failed', 'second: success']);
});

test('fails a job of a user blocked since, and runs it when another user retries', async () => {
  const { project, peer } = await pushed('a: { script: x, when: manual }');
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  const { id } = await project.job('a');
  const played = await gantry.api(`POST ${project.at}/jobs/${id}/play`, { as: user.token });
  assert.equal(played.status, 201);
  assert.equal((await gantry.api(`POST /users/${user.id}/block`)).status, 201);
  assert.equal(await peer.request(), null);
  assert.equal((await project.job('a')).failure_reason, 'user_blocked');
  assert.equal((await gantry.api(`POST ${project.at}/jobs/${id}/retry`)).status, 201);
  await peer.run(await peer.take());
  assert.deepEqual(await project.states(), ['a: success']);
});

test('lets the runner wait if there is no other job', async () => {
  const { project, peer } = await pushed('{ a: { script: x, secrets: { A: { vault: x } } } }');
  assert.equal(await peer.request(), null);
  assert.deepEqual(await project.states(), ['a: failed']);
  const held = peer.poll();
  await project.push('b: { script: x }');
  const reply = await held.reply;
  assert.deepEqual([reply.status, reply.body.job_info.name], [201, 'b']);
});
