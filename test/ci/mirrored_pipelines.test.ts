/** Jobs that mirror the status of the newest pipeline of another project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readArchiveTextFile } from '../../src/ci/artifacts/store/read_archive_text_file.ts';
import { startDownstream } from '../../src/ci/pipelines/downstream/start_downstream.ts';
import { sweepBridges } from '../../src/ci/pipelines/downstream/sweep_trigger_jobs.ts';
import { setJob } from '../support/ci/jobs.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { seedMember } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream } from './downstream.ts';

let gantry: TestService;
const made: Upstream[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const { peer } of made) peer.close();
  await gantry.close();
});

const project = async (config: string, visibility: 'private' | 'public' = 'private'): Promise<Upstream> => {
  const one = await makeUpstream(gantry, { visibility });
  made.push(one);
  await one.push(config);
  return one;
};

const mirror = (path: string): string =>
  `like: { needs: { pipeline: ${path} } }\nafter: { stage: deploy, script: x }`;

const stateOf = async (app: Upstream): Promise<[string, string | null]> => {
  const { like } = await app.bridges();
  return [like.status, like.failure_reason];
};

test('runs and ends with the mirrored pipeline', async () => {
  const lib = await project('work: { script: x }');
  const app = await project('x: { script: x }');
  const [namespace, path] = lib.full_path.split('/');
  await gantry.api(`POST ${app.path}/variables`, { json: { key: 'LIB', value: path } });
  await app.push(mirror(`${namespace}/$LIB`));
  assert.deepEqual(await stateOf(app), ['running', null]);
  assert.equal((await app.bridges())['like'].downstream_pipeline, null);
  const jobs = await gantry.api(`GET ${app.path}/pipelines/${(await app.newest()).id}/jobs`);
  assert.deepEqual(
    jobs.body.map(({ name }: { name: string }) => name),
    ['after'],
  );
  await lib.run();
  assert.deepEqual(await stateOf(app), ['success', null]);
  assert.equal((await app.run()).body.job_info.name, 'after');
  assert.equal((await app.newest()).status, 'success');
});

test('takes the result of an ended pipeline, only of the newest on the default branch', async () => {
  const lib = await project('work: { script: x }');
  await lib.run('failed');
  const app = await project(mirror(lib.full_path));
  assert.deepEqual(await stateOf(app), ['failed', 'unknown_failure']);
  assert.equal((await app.newest()).status, 'failed');
  await lib.push({ more: '1' });
  const { id } = await lib.newest();
  await lib.post(`pipelines/${id}/cancel`);
  await lib.push({ more: '1' }, { branch: 'side', from: 'main' });
  await app.push({ more: '1' });
  assert.deepEqual(await stateOf(app), ['canceled', null]);
});

test('is blocked while the mirrored pipeline is', async () => {
  const lib = await project(`work: { stage: build, script: x }
ask: { stage: deploy, script: x, when: manual, allow_failure: false }`);
  const app = await project(mirror(lib.full_path));
  await lib.run();
  assert.deepEqual(await stateOf(app), ['manual', null]);
  assert.equal((await app.newest()).status, 'manual');
  const jobs = await gantry.api(`GET ${lib.path}/jobs`);
  await lib.post(`jobs/${jobs.body.find(({ name }: { name: string }) => name === 'ask').id}/play`);
  assert.deepEqual(await stateOf(app), ['running', null]);
  await lib.run();
  assert.deepEqual(await stateOf(app), ['success', null]);
});

test('is skipped if the project has no pipeline', async () => {
  const lib = await makeUpstream(gantry);
  made.push(lib);
  const app = await project(mirror(lib.full_path));
  assert.deepEqual(await stateOf(app), ['skipped', null]);
});

test('answers alike for hidden and missing projects, and reports missing access to pipelines', async () => {
  const hidden = await project('work: { script: x }');
  const shown = await project('work: { script: x }', 'public');
  await gantry.api(`PUT ${shown.path}`, { json: { public_builds: false } });
  const app = await project('x: { script: x }');
  const as = app.developer;
  const push = async (path: string) => {
    await app.push(mirror(path), { branch: 'topic', from: 'main', by: as.id });
    return await stateOf(app);
  };
  assert.deepEqual(await push(hidden.full_path), ['failed', 'upstream_bridge_project_not_found']);
  assert.deepEqual(await push('none/there'), ['failed', 'upstream_bridge_project_not_found']);
  assert.deepEqual(await push(shown.full_path), ['failed', 'insufficient_upstream_permissions']);
  await seedMember(gantry, { user: as.id, project: hidden.id, access_level: 20 });
  assert.deepEqual(await push(hidden.full_path), ['running', null]);
});

test('is cancelled and retried without the mirrored pipeline', async () => {
  const lib = await project('work: { script: x }');
  const app = await project(mirror(lib.full_path));
  const { like } = await app.bridges();
  await app.post(`jobs/${like.id}/cancel`);
  assert.deepEqual(await stateOf(app), ['canceled', null]);
  assert.equal((await lib.newest()).status, 'pending');
  const again = await app.post(`jobs/${like.id}/retry`);
  assert.equal(again.status, 201);
  assert.deepEqual(await stateOf(app), ['running', null]);
  await lib.run();
  assert.deepEqual(await stateOf(app), ['success', null]);
});

test('keeps its result when the mirrored pipeline is retried; a retry mirrors it again', async () => {
  const lib = await project('work: { script: x }');
  const app = await project(mirror(lib.full_path));
  const { id } = await lib.run('failed');
  assert.deepEqual(await stateOf(app), ['failed', 'unknown_failure']);
  const { like } = await app.bridges();
  await lib.post(`jobs/${id}/retry`);
  assert.deepEqual(await stateOf(app), ['failed', 'unknown_failure']);
  assert.equal((await app.newest()).status, 'failed');
  await app.post(`jobs/${like.id}/retry`);
  assert.deepEqual(await stateOf(app), ['running', null]);
  await lib.run();
  assert.deepEqual(await stateOf(app), ['success', null]);
  assert.equal((await app.run()).body.job_info.name, 'after');
  assert.equal((await app.newest()).status, 'success');
});

test('stops waiting if the mirrored pipeline is deleted', async () => {
  const lib = await project('work: { script: x }');
  const app = await project(mirror(lib.full_path));
  await sweepBridges(gantry.service.platform);
  assert.deepEqual(await stateOf(app), ['running', null]);
  const { id } = await lib.newest();
  assert.equal((await gantry.api(`DELETE ${lib.path}/pipelines/${id}`)).status, 204);
  await sweepBridges(gantry.service.platform);
  assert.deepEqual(await stateOf(app), ['failed', 'unknown_failure']);
});

test('mirrors the previous pipeline of its own project; a repeated start changes nothing', async () => {
  const app = await project('work: { script: x }');
  const job = await app.peer.take();
  await app.push(mirror('$CI_PROJECT_PATH'));
  const { like } = await app.bridges();
  assert.equal(like.status, 'running');
  await setJob(gantry, like.id, { status: 'pending', started_at: null });
  const start = async () => await startDownstream(gantry.service.platform, like.id, readArchiveTextFile);
  await Promise.all([start(), start()]);
  assert.equal((await app.bridges())['like'].status, 'running');
  await app.peer.finish(job);
  await settle(gantry);
  assert.deepEqual(await stateOf(app), ['success', null]);
});
