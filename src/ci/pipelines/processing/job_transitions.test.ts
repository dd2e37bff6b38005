/** Tests job transitions, sequential and concurrent, in a store without a service. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PipelineStore, openPipelineStore } from '../../../../test/support/ci/pipeline_store.ts';
import { endedWork } from '../enqueue_pipeline_ended.ts';
import {
  cancelJob,
  failJob,
  finishCanceling,
  finishJob,
  playJob,
  requeueJob,
  retryJob,
  startJob,
} from './job_transitions.ts';
import { delayedWork } from './set_job_statuses.ts';
import { downstreamWork } from './pending_jobs.ts';
import { startDelayed } from './start_delayed.ts';

let gantry: PipelineStore;
const start = Date.UTC(2026, 0, 1);

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());
beforeEach(async () => {
  gantry.setTime(start);
  await gantry.write(async ({ db }) => {
    await db.deleteFrom('work').execute();
    await db.deleteFrom('pipelines').execute();
  });
});

const twoStages = `
stages: [build, test]
build: { stage: build, script: make }
test: { stage: test, script: make test }
`;

const one = (more = ''): string => `job: { script: make${more === '' ? '' : `, ${more}`} }`;

const to = { runner_id: 1, system_id: 's_1', token_hash: 'hash', timeout: 60 };

const act = async <T>(work: Parameters<typeof gantry.write<T>>[0]): Promise<T> => await gantry.write(work);

describe('a pipeline', () => {
  it('starts its first stage, then the next, and publishes its end once', async () => {
    const id = await gantry.begin(twoStages);
    assert.equal(await gantry.states(id), 'build: pending, test: created');
    assert.deepEqual(await gantry.queued(), [(await gantry.job(id, 'build')).id]);
    assert.equal((await gantry.pipeline(id)).status, 'pending');
    gantry.setTime(start + 5_000);
    await gantry.start(id, 'build');
    assert.deepEqual(await gantry.queued(), []);
    const running = await gantry.pipeline(id);
    assert.deepEqual([running.status, running.started_at], ['running', start + 5_000]);
    gantry.setTime(start + 8_000);
    const build = await gantry.job(id, 'build');
    await act((tx) => finishJob(tx, build.id, { status: 'success' }));
    assert.equal(await gantry.states(id), 'build: success, test: pending');
    assert.deepEqual(await gantry.takeWork(endedWork), []);
    gantry.setTime(start + 20_000);
    await gantry.start(id, 'test');
    gantry.setTime(start + 24_000);
    const test = await gantry.job(id, 'test');
    await act((tx) => finishJob(tx, test.id, { status: 'success', coverage: 8_050 }));
    const { status, finished_at, duration } = await gantry.pipeline(id);
    assert.deepEqual([status, finished_at, duration], ['success', start + 24_000, 7]);
    assert.equal((await gantry.job(id, 'test')).coverage, 8_050);
    assert.deepEqual(await gantry.takeWork(endedWork), [{ pipeline_id: id }]);
  });

  it('a pipeline reports the status of each stage', async () => {
    const id = await gantry.begin(twoStages);
    await gantry.run(id, { build: 'failed' });
    const stages = await gantry.store.db
      .selectFrom('stages')
      .select(['name', 'status'])
      .where('pipeline_id', '=', id)
      .orderBy('position')
      .execute();
    assert.deepEqual(
      stages.map(({ name, status }) => [name, status]),
      [
        ['build', 'failed'],
        ['test', 'skipped'],
      ],
    );
    assert.equal((await gantry.pipeline(id)).status, 'failed');
  });

  it('a job with `needs` does not wait for earlier stages', async () => {
    const id = await gantry.begin(`
stages: [build, test]
a: { stage: build, script: make }
b: { stage: build, script: make }
c: { stage: test, script: make, needs: [a] }
d: { stage: test, script: make, needs: [] }
`);
    assert.equal(await gantry.states(id), 'a: pending, b: pending, c: created, d: pending');
    await gantry.run(id, { a: 'success' });
    assert.equal(await gantry.states(id), 'a: success, b: pending, c: pending, d: pending');
  });

  it('starts a downstream pipeline in background work, without a runner', async () => {
    const id = await gantry.begin(`
build: { stage: build, trigger: { include: child.yml } }
test: { stage: test, script: make }
`);
    assert.equal(await gantry.states(id), 'build: pending, test: created');
    assert.deepEqual(await gantry.queued(), []);
    const { id: job_id } = await gantry.job(id, 'build');
    assert.deepEqual(await gantry.takeWork(downstreamWork), [{ job_id }]);
  });
});

describe('a job that starts', () => {
  it('is assigned once to two concurrent runners', async () => {
    const id = await gantry.begin(one());
    const { id: job_id } = await gantry.job(id, 'job');
    const claimed = await Promise.all(
      [1, 2, 3].map((runner_id) =>
        act((tx) => startJob(tx, job_id, { ...to, runner_id, token_hash: `hash-${runner_id}` })),
      ),
    );
    assert.equal(claimed.filter((row) => row !== null).length, 1);
    const { status, runner_id } = await gantry.job(id, 'job');
    assert.deepEqual([status, runner_id], ['running', claimed.find((row) => row !== null)?.runner_id]);
  });

  it('is either assigned or canceled when both happen at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await gantry.begin(one());
      const { id: job_id } = await gantry.job(id, 'job');
      const [started] = await Promise.all([
        act((tx) => startJob(tx, job_id, { ...to, token_hash: `hash-${job_id}` })),
        act((tx) => cancelJob(tx, job_id)),
      ]);
      const { status } = await gantry.job(id, 'job');
      assert.equal(status, started === null ? 'canceled' : 'canceling');
    }
    assert.deepEqual(await gantry.queued(), []);
  });

  it('waits for another runner when the response was lost', async () => {
    const id = await gantry.begin(one());
    await gantry.start(id, 'job');
    const { id: job_id } = await gantry.job(id, 'job');
    const row = await act((tx) => requeueJob(tx, job_id));
    assert.deepEqual(
      [row?.status, row?.runner_id, row?.token_hash, row?.started_at],
      ['pending', null, null, null],
    );
    assert.deepEqual(await gantry.queued(), [job_id]);
    assert.equal((await gantry.pipeline(id)).status, 'pending');
    assert.equal(await act((tx) => requeueJob(tx, job_id)), null);
    await gantry.run(id, { job: 'success' });
    assert.equal((await gantry.pipeline(id)).status, 'success');
  });
});

describe('a job that ends', () => {
  it('ends once: later updates change nothing, and its token is revoked', async () => {
    const id = await gantry.begin(one());
    await gantry.run(id, { job: 'success' });
    const job = await gantry.job(id, 'job');
    assert.deepEqual([job.status, job.token_hash], ['success', null]);
    assert.equal(await act((tx) => finishJob(tx, job.id, { status: 'failed' })), null);
    assert.equal(await act((tx) => cancelJob(tx, job.id)), null);
    assert.equal(await act((tx) => failJob(tx, job.id, 'stuck_or_timeout_failure')), null);
    assert.deepEqual(await gantry.job(id, 'job'), job);
  });

  it('ends in one status when it is canceled at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await gantry.begin(one());
      await gantry.start(id, 'job');
      const { id: job_id } = await gantry.job(id, 'job');
      const [finished, cancelled] = await Promise.all([
        act((tx) => finishJob(tx, job_id, { status: 'success' })),
        act((tx) => cancelJob(tx, job_id)),
      ]);
      const { status } = await gantry.job(id, 'job');
      assert.equal(finished?.status, status);
      assert.equal(status, cancelled === null ? 'success' : 'canceled');
      assert.equal((await gantry.pipeline(id)).status, status);
    }
  });

  it('fails with its reason and exit code, or is dropped with a reason', async () => {
    const id = await gantry.begin(one());
    await gantry.start(id, 'job');
    const { id: job_id } = await gantry.job(id, 'job');
    const failed = { status: 'failed', failure_reason: 'script_failure', exit_code: 3 } as const;
    const row = await act((tx) => finishJob(tx, job_id, failed));
    assert.deepEqual([row?.status, row?.failure_reason, row?.exit_code], ['failed', 'script_failure', 3]);
    const other = await gantry.begin(one());
    const { id: waiting } = await gantry.job(other, 'job');
    const dropped = await act((tx) => failJob(tx, waiting, 'stuck_or_timeout_failure'));
    assert.deepEqual([dropped?.status, dropped?.failure_reason], ['failed', 'stuck_or_timeout_failure']);
    assert.deepEqual(await gantry.queued(), []);
    assert.equal((await gantry.pipeline(other)).status, 'failed');
  });
});

describe('a job that is cancelled', () => {
  it('ends at once while no runner has it, with the jobs that wait for it', async () => {
    const id = await gantry.begin(twoStages);
    const { id: job_id } = await gantry.job(id, 'build');
    const row = await act((tx) => cancelJob(tx, job_id));
    assert.deepEqual([row?.status, row?.finished_at, row?.started_at], ['canceled', start, null]);
    assert.equal(await gantry.states(id), 'build: canceled, test: skipped');
    assert.equal((await gantry.pipeline(id)).status, 'canceled');
    assert.deepEqual(await gantry.queued(), []);
  });

  it('waits for its runner, keeps its token, and its end stays', async () => {
    const id = await gantry.begin(twoStages);
    await gantry.start(id, 'build');
    const { id: job_id } = await gantry.job(id, 'build');
    gantry.setTime(start + 1_000);
    const row = await act((tx) => cancelJob(tx, job_id));
    assert.deepEqual([row?.status, row?.finished_at], ['canceling', start + 1_000]);
    assert.notEqual(row?.token_hash, null);
    assert.equal((await gantry.pipeline(id)).status, 'canceling');
    gantry.setTime(start + 9_000);
    const ended = await act((tx) => finishCanceling(tx, job_id));
    assert.deepEqual(
      [ended?.status, ended?.finished_at, ended?.token_hash],
      ['canceled', start + 1_000, null],
    );
    assert.equal(await gantry.states(id), 'build: canceled, test: skipped');
    assert.equal(await act((tx) => finishCanceling(tx, job_id)), null);
  });
});

describe('a manual job', () => {
  const file = `
stages: [build, test, deploy]
build: { stage: build, script: make, when: manual, allow_failure: false }
test: { stage: test, script: make }
deploy: { stage: deploy, script: make, when: manual }
`;
  it('blocks its pipeline until a user plays it, and runs on behalf of that user', async () => {
    const id = await gantry.begin(file, { user_id: null });
    assert.equal(await gantry.states(id), 'build: manual, test: created, deploy: created');
    assert.equal((await gantry.pipeline(id)).status, 'manual');
    const { id: job_id } = await gantry.job(id, 'build');
    const row = await act((tx) => playJob(tx, job_id, gantry.user));
    assert.deepEqual([row?.id, row?.status, row?.user_id], [job_id, 'pending', gantry.user]);
    assert.equal(await act((tx) => playJob(tx, job_id, gantry.user)), null);
    await gantry.run(id, { build: 'success' });
    await gantry.run(id, { test: 'success' });
    assert.equal(await gantry.states(id), 'build: success, test: success, deploy: manual');
    assert.equal((await gantry.pipeline(id)).status, 'success');
  });

  it('revives the jobs that were skipped because of it', async () => {
    const id = await gantry.begin(`
a: { script: make, when: manual, allow_failure: true }
b: { script: make, needs: [a] }
`);
    assert.equal(await gantry.states(id), 'a: manual, b: skipped');
    const { id: job_id } = await gantry.job(id, 'a');
    await act((tx) => playJob(tx, job_id, gantry.user));
    assert.equal(await gantry.states(id), 'a: pending, b: created');
    await gantry.run(id, { a: 'success' });
    assert.equal(await gantry.states(id), 'a: success, b: pending');
  });
});

describe('a delayed job', () => {
  const file = one(`when: delayed, start_in: 5 minutes`);
  it('a delayed job starts when its delay has passed', async () => {
    const id = await gantry.begin(file);
    const job = await gantry.job(id, 'job');
    assert.deepEqual([job.status, job.scheduled_at], ['scheduled', start + 300_000]);
    const work = await gantry.store.db.selectFrom('work').select(['name', 'run_at']).execute();
    assert.deepEqual(
      work.map(({ name, run_at }) => [name, run_at]),
      [[delayedWork, start + 300_000]],
    );
    await act((tx) => startDelayed(tx, id));
    assert.equal(await gantry.states(id), 'job: scheduled');
    gantry.setTime(start + 300_000);
    await act((tx) => startDelayed(tx, id));
    assert.equal(await gantry.states(id), 'job: pending');
  });

  it('a delayed job starts early when a user plays it', async () => {
    const id = await gantry.begin(file);
    const { id: job_id } = await gantry.job(id, 'job');
    await act((tx) => playJob(tx, job_id, gantry.user));
    assert.equal(await gantry.states(id), 'job: pending');
    gantry.setTime(start + 300_000);
    await gantry.run(id, { job: 'success' });
    await act((tx) => startDelayed(tx, id));
    assert.equal(await gantry.states(id), 'job: success');
  });
});

describe('a retry', () => {
  it('is a new job that replaces the old one, and skipped jobs may run', async () => {
    const id = await gantry.begin(`
stages: [build, test]
build: { stage: build, script: make, tags: [b, a] }
test: { stage: test, script: make, needs: [{ job: build, artifacts: false }] }
`);
    await gantry.run(id, { build: 'failed' });
    const old = await gantry.job(id, 'build');
    const row = await act((tx) => retryJob(tx, old.id, gantry.user));
    assert.ok(row !== null && row.id > old.id);
    assert.deepEqual(
      [row.status, row.started_at, row.finished_at, row.exit_code, row.failure_reason, row.tag_list],
      ['pending', null, null, null, null, '["a","b"]'],
    );
    assert.deepEqual([row.retry_of_id, row.config_id, row.timeout], [old.id, old.config_id, 3600]);
    assert.equal(await gantry.states(id), 'build: pending, test: created');
    assert.equal(await act((tx) => retryJob(tx, old.id, gantry.user)), null, 'once');
    const { status, finished_at } = await gantry.pipeline(id);
    assert.deepEqual([status, finished_at], ['pending', null]);
    await gantry.run(id, { build: 'success' });
    const test = await gantry.job(id, 'test');
    assert.equal(test.status, 'pending');
    await gantry.run(id, { test: 'failed' });
    const again = await act((tx) => retryJob(tx, test.id, gantry.user));
    const needs = await gantry.store.db
      .selectFrom('job_needs')
      .select(['name', 'artifacts'])
      .where('job_id', '=', again?.id ?? 0)
      .execute();
    assert.deepEqual(
      needs.map(({ name, artifacts }) => [name, artifacts]),
      [['build', 0]],
    );
  });

  it('of a job that is being canceled runs while that one ends', async () => {
    const id = await gantry.begin(one());
    await gantry.start(id, 'job');
    const old = await gantry.job(id, 'job');
    await act((tx) => cancelJob(tx, old.id));
    const row = await act((tx) => retryJob(tx, old.id, gantry.user));
    assert.equal(row?.status, 'pending');
    assert.equal((await gantry.pipeline(id)).status, 'pending');
    await act((tx) => finishCanceling(tx, old.id));
    assert.deepEqual(
      (await gantry.jobs(id)).map(({ status, retried }) => [status, retried]),
      [
        ['canceled', 1],
        ['pending', 0],
      ],
    );
  });

  it('is refused for a waiting or running job', async () => {
    const id = await gantry.begin(one());
    const { id: job_id } = await gantry.job(id, 'job');
    assert.equal(await act((tx) => retryJob(tx, job_id, gantry.user)), null);
    await gantry.start(id, 'job');
    assert.equal(await act((tx) => retryJob(tx, job_id, gantry.user)), null);
  });
});
