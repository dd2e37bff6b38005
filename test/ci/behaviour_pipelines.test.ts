/** The life of a pipeline, from a git push to its end, with a runner controlled by the test. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import { settle } from '../support/seed_merge_requests.ts';
import type { Peer, PeerJob } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type CiProject, makeCiProject } from './project.ts';

let gantry: TestService;
const projects: CiProject[] = [];
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
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

const nameOf = ({ body }: PeerJob): string => body.job_info.name;

/** Lets a new runner receive jobs immediately. */
const nothingFor = async (project: CiProject): Promise<void> => {
  const peer = await project.peer();
  assert.equal(await peer.request(), null);
  peer.close();
};

/** Takes the next job, which must be this one, and ends it. */
const run = async (peer: Peer, name: string, exit_code = 0): Promise<number> => {
  const job = await peer.take();
  assert.equal(nameOf(job), name);
  await peer.trace(job, `${name} ran\n`);
  const failed = { failure_reason: 'script_failure', exit_code };
  const reply = await peer.finish(job, exit_code === 0 ? 'success' : 'failed', exit_code === 0 ? {} : failed);
  assert.equal(reply.status, 200);
  return job.id;
};

test('starts a job when its needs are done, before their stage has ended', async () => {
  const { project, peer } = await pushed(`
stages: [build, test, ship]
slow: { stage: build, script: x }
fast: { stage: build, script: x }
after fast: { stage: test, needs: [fast], script: x }
after all: { stage: test, script: x }
ship: { stage: ship, needs: [after fast], script: x }
`);
  const slow = await peer.take();
  assert.equal(nameOf(slow), 'slow');
  for (const name of ['fast', 'after fast', 'ship']) await run(peer, name);
  assert.deepEqual(await project.states(), [
    'slow: running',
    'fast: success',
    'after fast: success',
    'after all: created',
    'ship: success',
  ]);
  await nothingFor(project);
  await peer.finish(slow);
  await run(peer, 'after all');
  assert.equal((await project.newest()).status, 'success');
});

test('blocks at a required manual job until it is played, and skips an optional one', async () => {
  const { project, peer } = await pushed(`
stages: [build, approve, ship]
build: { stage: build, script: x }
approve: { stage: approve, script: x, when: manual, allow_failure: false }
extra: { stage: approve, script: x, when: manual }
ship: { stage: ship, script: x }
`);
  await run(peer, 'build');
  assert.equal((await project.newest()).status, 'manual');
  assert.deepEqual(await project.states(), [
    'build: success',
    'approve: manual',
    'extra: manual',
    'ship: created',
  ]);
  await nothingFor(project);
  const { id } = await project.job('approve');
  assert.equal((await gantry.api(`POST ${project.at}/jobs/${id}/play`)).status, 201);
  assert.equal(await run(peer, 'approve'), id);
  await run(peer, 'ship');
  assert.equal((await project.newest()).status, 'success');
  assert.equal((await project.job('extra')).status, 'manual');
});

describe('a job that may fail with certain exit codes', () => {
  const file = `
stages: [test, ship]
test: { stage: test, script: x, allow_failure: { exit_codes: [77, 137] } }
ship: { stage: ship, script: x }
`;
  test('lets the pipeline continue after an allowed code', async () => {
    const { project, peer } = await pushed(file);
    await run(peer, 'test', 77);
    const { allow_failure, status } = await project.job('test');
    assert.deepEqual([status, allow_failure], ['failed', true]);
    await run(peer, 'ship');
    assert.equal((await project.newest()).status, 'success');
  });
  test('fails the pipeline after any other code', async () => {
    const { project, peer } = await pushed(file);
    await run(peer, 'test', 1);
    assert.deepEqual(await project.states(), ['test: failed', 'ship: skipped']);
    assert.equal((await project.newest()).status, 'failed');
    await nothingFor(project);
  });
});

describe('a job with automatic retries', () => {
  test('runs as a new job each time, as often as configured', async () => {
    const { project, peer } = await pushed('flaky: { script: x, retry: { max: 2 } }');
    const ids: number[] = [];
    for (const status of ['pending', 'pending', 'failed']) {
      ids.push(await run(peer, 'flaky', 1));
      assert.equal((await project.newest()).status, status);
    }
    assert.equal(new Set(ids).size, 3);
    const { body } = await gantry.api(`GET ${project.at}/jobs`);
    assert.deepEqual(
      body.map(({ id, status }: { id: number; status: string }) => [id, status]),
      ids.toReversed().map((id) => [id, 'failed']),
    );
    await nothingFor(project);
  });
  test('lets its pipeline succeed when a retry succeeds', async () => {
    const { project, peer } = await pushed('flaky: { script: x, retry: 2 }');
    await run(peer, 'flaky', 1);
    await run(peer, 'flaky');
    assert.deepEqual(await project.states(), ['flaky: success']);
    assert.equal((await project.newest()).status, 'success');
    await nothingFor(project);
  });
});

test('starts a delayed job at its time, not before', async () => {
  const { project, peer } = await pushed(`
build: { stage: build, script: x }
later: { stage: test, script: x, when: delayed, start_in: 30 minutes }
`);
  await run(peer, 'build');
  await settle(gantry);
  assert.equal((await project.job('later')).status, 'created');
  await nothingFor(project);
  gantry.setTime(Date.now() + 30 * 60_000);
  await settle(gantry);
  gantry.setTime(null);
  await run(peer, 'later');
  assert.equal((await project.newest()).status, 'success');
});

test('creates no pipeline if the commit message or a push option says so', async () => {
  const { project, peer } = await pushed('build: { script: x }');
  await run(peer, 'build');
  await project.push({ a: '1' }, { message: 'Words alone [skip ci]' });
  await project.push({ b: '1' }, { words: ['--push-option=ci.skip'] });
  const found = await project.pipelines('sort=asc');
  assert.deepEqual(
    found.map(({ status }) => status),
    ['success', 'skipped', 'skipped'],
  );
  await nothingFor(project);
});

test('cancels interruptible jobs on a newer push, and tells the runner', async () => {
  const { project, peer } = await pushed(`
default: { interruptible: true }
one: { stage: build, script: x }
two: { stage: test, script: x }
`);
  const running = await peer.take();
  assert.equal(nameOf(running), 'one');
  await project.push({ more: 'x' });
  const [newer, older] = await project.pipelines();
  assert.deepEqual([newer.status, older.status], ['pending', 'canceled']);
  assert.equal((await peer.trace(running, 'x')).headers['job-status'], 'canceling');
  await peer.finish(running);
  const { body } = await gantry.api(`GET ${project.at}/pipelines/${older.id}/jobs`);
  assert.deepEqual(
    body.map(({ status }: { status: string }) => status),
    ['canceled', 'canceled'],
  );
  await run(peer, 'one');
  await run(peer, 'two');
  await settle(gantry);
  assert.deepEqual(
    (await project.pipelines()).map(({ status }) => status),
    ['success', 'canceled'],
  );
});

test('masks a variable that is split between two pieces of a log', async () => {
  const { project, peer } = await pushed('talks: { script: x, rules: [{ if: $SECRET }] }');
  const json = { key: 'SECRET', value: 'hunter2/hunter2', masked: true };
  assert.equal((await gantry.api(`POST ${project.at}/variables`, { json })).status, 201);
  await project.push({ again: '1' });
  const job = await peer.take();
  for (const piece of ['one hunter2/hun', 'ter2 two hunter2', ' three\n']) await peer.trace(job, piece);
  await peer.finish(job);
  assert.equal(await project.trace('talks'), 'one xxxxxxxxxxxxxxx two hunter2 three\n');
});

describe('artifacts of a job', () => {
  const file = 'keeps: { script: x, artifacts: { paths: [out/], expire_in: 2 seconds } }';
  /** With the clock stopped at `now`. */
  const kept = async (): Promise<{ project: CiProject; paths: string[]; id: number; now: number }> => {
    const { project, peer } = await pushed(file);
    const job = await peer.take();
    const now = Date.now();
    gantry.setTime(now);
    const { artifact_type, artifact_format, expire_in } = job.body.artifacts[0];
    const attributes = { type: artifact_type, format: artifact_format, expire_in };
    assert.equal((await peer.upload(job, await buildZip({ 'out/made': 'made\n' }), attributes)).status, 201);
    await peer.trace(job, 'kept\n');
    assert.equal((await peer.finish(job)).status, 200);
    const paths = [
      `jobs/${job.id}/artifacts`,
      `jobs/${job.id}/artifacts/out/made`,
      'jobs/artifacts/main/download?job=keeps',
    ];
    return { project, paths: paths.map((path) => `${project.at}/${path}`), id: job.id, now };
  };
  const statuses = async (paths: string[], now: number): Promise<number[]> => {
    gantry.setTime(now);
    return await Promise.all(paths.map(async (path) => (await gantry.api(`GET ${path}`)).status));
  };
  afterEach(() => gantry.setTime(null));

  test('expire after two seconds, and the log stays', async () => {
    const { project, paths, now } = await kept();
    assert.deepEqual(await statuses(paths, now + 1_000), [200, 200, 200]);
    assert.deepEqual(await statuses(paths, now + 2_500), [404, 404, 404]);
    assert.equal((await project.job('keeps')).status, 'success');
    assert.equal(await project.trace('keeps'), 'kept\n');
  });
  test('kept artifacts never expire', async () => {
    const { project, paths, id, now } = await kept();
    assert.equal((await gantry.api(`POST ${project.at}/jobs/${id}/artifacts/keep`)).status, 201);
    assert.deepEqual(await statuses(paths, now + 86_400_000), [200, 200, 200]);
  });
  test('artifacts are erased with the log of their job', async () => {
    const { project, paths, id, now } = await kept();
    const { status, body } = await gantry.api(`POST ${project.at}/jobs/${id}/erase`);
    assert.equal(status, 201);
    assert.notEqual(body.erased_at, null);
    const all = [...paths, `${project.at}/jobs/${id}/trace`];
    assert.deepEqual(await statuses(all, now), [404, 404, 404, 404]);
  });
});

test('lets a command line client lint, list, run, follow, retry and download', async () => {
  const { project, peer } = await pushed('make: { script: make, artifacts: { paths: [out] } }');
  const at = `/projects/${encodeURIComponent(project.full_path)}`;
  await peer.run(await peer.take(), { state: 'failed' });
  const content = 'make: { script: make, stage: nowhere }';
  const linted = await gantry.api(`POST ${at}/ci/lint`, { json: { content, dry_run: false, ref: '' } });
  assert.equal(linted.body.valid, false);
  assert.match(linted.body.errors[0], /chosen stage does not exist/);
  const listed = await gantry.api(`GET ${at}/pipelines?page=1&per_page=30&order_by=id&sort=desc`);
  assert.deepEqual([listed.body.length, listed.body[0].status], [1, 'failed']);
  const variables = [{ key: 'KIND', value: 'full', variable_type: 'env_var' }];
  const made = await gantry.api(`POST ${at}/pipeline`, { json: { ref: 'main', variables } });
  assert.equal(made.status, 201);
  const latest = await gantry.api(`GET ${at}/pipelines/latest?ref=main`);
  assert.equal(latest.body.id, made.body.id);
  const job = await peer.take();
  const kind = job.body.variables.find(({ key }: { key: string }) => key === 'KIND');
  assert.equal(kind.value, 'full');
  await peer.trace(job, 'so far\n');
  const jobs = await gantry.api(`GET ${at}/pipelines/${made.body.id}/jobs?page=1&per_page=20`);
  assert.deepEqual([jobs.body[0].id, jobs.body[0].status], [job.id, 'running']);
  assert.equal((await gantry.api(`GET ${at}/jobs/${job.id}/trace`)).text, 'so far\n');
  await peer.finish(job, 'failed', { failure_reason: 'script_failure' });
  const again = await gantry.api(`POST ${at}/jobs/${job.id}/retry`, { json: {} });
  assert.deepEqual([again.status, again.body.id === job.id], [201, false]);
  const archive = await buildZip({ out: 'made' });
  await peer.run(await peer.take(), { archive });
  const got = await gantry.api(`GET ${at}/jobs/artifacts/main/download?job=make`);
  assert.equal(got.status, 200);
  assert.equal(Number(got.headers.get('content-length')), archive.length);
});
