import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { type Coded, seedCoded } from '../../../../test/support/seed_merge_requests.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../../../../test/support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { makeSweeper, sweepJobs } from './sweep_jobs.ts';

const minute = 60_000;
const hour = 60 * minute;

let gantry: TestService;
const peers: Peer[] = [];
/** Milliseconds by which the clock is ahead of the real one. */
let ahead = 0;

before(async () => void (gantry = await startTestService()));
afterEach(() => {
  ahead = 0;
  gantry.setTime(null);
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

/** Advances the clock, then sweeps. */
const pass = async (milliseconds: number): Promise<void> => {
  ahead += milliseconds;
  gantry.setTime(Date.now() + ahead);
  await sweepJobs(gantry.service.platform);
};

const peerFor = async (project: Coded, input: Parameters<typeof seedRunner>[1] = {}): Promise<Peer> => {
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id], ...input });
  const peer = makePeer(gantry, { token: runner.token });
  peers.push(peer);
  return peer;
};

const waiting = async (file = 'a: { script: x }') => {
  const project = await seedCoded(gantry);
  const { jobs } = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
  return { project, id: jobs['a'] ?? 0 };
};

const running = async (file?: string): Promise<{ project: Coded; peer: Peer; job: PeerJob }> => {
  const { project } = await waiting(file);
  const peer = await peerFor(project);
  return { project, peer, job: await peer.take() };
};

const stateOf = async (id: number): Promise<[string, string | null]> => {
  const query = gantry.service.platform.store.db
    .selectFrom('jobs')
    .select(['status', 'failure_reason'])
    .where('id', '=', id);
  const { status, failure_reason } = await query.executeTakeFirstOrThrow();
  return [status, failure_reason];
};

describe('a job whose runner sends nothing after taking it', () => {
  test('a job whose runner sends nothing becomes pending again, once', async () => {
    const { peer, job } = await running();
    await pass(30_000);
    assert.deepEqual(await stateOf(job.id), ['running', null]);
    await pass(31_000);
    assert.deepEqual(await stateOf(job.id), ['pending', null]);
    assert.equal((await peer.trace(job, 'too late')).status, 403);
    const again = await peer.take();
    assert.equal(again.id, job.id);
    assert.notEqual(again.token, job.token);
    await pass(61_000);
    assert.deepEqual(await stateOf(job.id), ['failed', 'runner_system_failure']);
  });

  test('continues if another runner takes it over', async () => {
    const { peer, job } = await running();
    await pass(61_000);
    const again = await peer.take();
    await peer.trace(again, 'here');
    await pass(61_000);
    assert.deepEqual(await stateOf(job.id), ['running', null]);
    await peer.finish(again);
    assert.deepEqual(await stateOf(job.id), ['success', null]);
  });
});

describe('a running job', () => {
  test('fails once its runner was silent for five minutes', async () => {
    const { peer, job } = await running();
    await peer.trace(job, 'one');
    await pass(4 * minute);
    await peer.update(job, { state: 'running' });
    await pass(0);
    await pass(4 * minute);
    assert.deepEqual(await stateOf(job.id), ['running', null]);
    await pass(2 * minute);
    assert.deepEqual(await stateOf(job.id), ['failed', 'stuck_or_timeout_failure']);
    assert.equal((await peer.trace(job, 'two')).headers['job-status'], 'failed');
    const { project_id } = job.body.job_info;
    assert.equal((await gantry.api(`GET /projects/${project_id}/jobs/${job.id}/trace`)).text, 'one');
  });

  test('is given time after the service was down', async () => {
    const { job, peer } = await running();
    await peer.trace(job, 'one');
    await pass(0);
    gantry.setTime(Date.now() + hour);
    const { platform } = gantry.service;
    await sweepJobs(platform, { since: platform.clock.now() - minute, steps: [] });
    assert.deepEqual(await stateOf(job.id), ['running', null]);
    await sweepJobs(platform);
    assert.deepEqual(await stateOf(job.id), ['failed', 'stuck_or_timeout_failure']);
  });

  test('is given time after the clock was set', async () => {
    const { job, peer } = await running();
    const { job: fresh } = await running();
    await peer.trace(job, 'one');
    await pass(0);
    const sweep = makeSweeper(gantry.service.platform);
    for (const hours of [0.5, -1, 2]) {
      gantry.setTime(Date.now() + hours * hour);
      await sweep(true);
      assert.deepEqual(await stateOf(job.id), ['running', null]);
      assert.deepEqual(await stateOf(fresh.id), ['running', null]);
      assert.equal((await peer.trace(job, 'two')).status, 202);
    }
  });

  test('is not canceled before its time when the clock is set ahead', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'one');
    const sweep = makeSweeper(gantry.service.platform);
    await gantry.api(`POST /projects/${project.id}/jobs/${job.id}/cancel`);
    gantry.setTime(Date.now() + hour);
    await sweep(false);
    assert.deepEqual(await stateOf(job.id), ['canceling', null]);
  });

  test('fails five minutes after the clock was set back if its runner is gone', async () => {
    const { peer, job } = await running();
    await peer.trace(job, 'one');
    const { job: fresh } = await running();
    await pass(0);
    const since = Date.now() - hour;
    for (const [minutes, state] of [
      [4, 'running'],
      [6, 'failed'],
    ] as const) {
      gantry.setTime(since + minutes * minute);
      await sweepJobs(gantry.service.platform, { since, steps: [] });
      assert.equal((await stateOf(job.id))[0], state);
    }
    assert.deepEqual(await stateOf(fresh.id), ['pending', null]);
  });

  test('fails past its timeout, however active its runner is', async () => {
    const { peer, job } = await running('a: { script: x, timeout: 10 minutes }');
    for (let minutes = 0; minutes < 10; minutes += 2) {
      assert.equal((await peer.update(job, { state: 'running' })).status, 200);
      await pass(2 * minute);
    }
    assert.deepEqual(await stateOf(job.id), ['running', null]);
    await peer.update(job, { state: 'running' });
    await pass(2 * minute);
    assert.deepEqual(await stateOf(job.id), ['failed', 'job_execution_timeout']);
  });

  test('ends if its runner does not finish a cancellation', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'one');
    await gantry.api(`POST /projects/${project.id}/jobs/${job.id}/cancel`);
    await pass(5.5 * minute);
    assert.deepEqual(await stateOf(job.id), ['canceling', null]);
    await pass(minute);
    assert.deepEqual(await stateOf(job.id), ['canceled', null]);
  });
});

describe('a pending job', () => {
  test('fails after an hour without a matching runner', async () => {
    const { project, id } = await waiting('a: { script: x, tags: [rare] }');
    const other = await waiting();
    await peerFor(project, { tags: ['common'] });
    await peerFor(other.project);
    await pass(hour - minute);
    assert.deepEqual(await stateOf(id), ['pending', null]);
    await pass(2 * minute);
    assert.deepEqual(await stateOf(id), ['failed', 'stuck_or_timeout_failure']);
    assert.deepEqual(await stateOf(other.id), ['pending', null]);
  });

  test('a pending job fails after a day, whichever runners there are', async () => {
    const { project, id } = await waiting();
    await peerFor(project);
    await pass(24 * hour - minute);
    assert.deepEqual(await stateOf(id), ['pending', null]);
    await pass(2 * minute);
    assert.deepEqual(await stateOf(id), ['failed', 'stuck_or_timeout_failure']);
    const reply = await gantry.api(`GET /projects/${project.id}/pipelines`);
    assert.equal(reply.body[0].status, 'failed');
  });

  test('has its time, whichever way the clock is set', async () => {
    const [waits, stuck] = [await waiting(), await waiting('a: { script: x, tags: [rare] }')];
    await peerFor(waits.project);
    const sweep = makeSweeper(gantry.service.platform);
    const start = Date.now();
    for (const days of [2, -2, 3]) {
      gantry.setTime(start + days * 24 * hour);
      await sweep(true);
      for (const { id } of [waits, stuck]) assert.deepEqual(await stateOf(id), ['pending', null]);
    }
  });

  test('fails an hour after the clock was set back if no runner matches', async () => {
    gantry.setTime(Date.now() + 2 * 24 * hour);
    const { id } = await waiting('a: { script: x, tags: [rare] }');
    const since = Date.now();
    for (const [minutes, state] of [
      [59, 'pending'],
      [61, 'failed'],
    ] as const) {
      gantry.setTime(since + minutes * minute);
      await sweepJobs(gantry.service.platform, { since, steps: [] });
      assert.equal((await stateOf(id))[0], state);
    }
  });
});
