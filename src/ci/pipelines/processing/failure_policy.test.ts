/** Tests the failure policies of a file: retries, allowed exit codes, canceling the pipeline. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PipelineStore, openPipelineStore } from '../../../../test/support/ci/pipeline_store.ts';
import { shouldRetry } from './failure_policy.ts';
import { cancelJob, failJob, finishJob, retryJob } from './job_transitions.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());
beforeEach(async () => {
  await gantry.write(async ({ db }) => await db.deleteFrom('pipelines').execute());
});

const fail = async (id: number, name: string, exit_code = 1, failure_reason = 'script_failure') => {
  await gantry.start(id, name);
  const job = await gantry.job(id, name);
  await gantry.write((tx) => finishJob(tx, job.id, { status: 'failed', failure_reason, exit_code }));
};

describe('retry', () => {
  const failed = (failure_reason: string, exit_code: number | null = null) => ({ failure_reason, exit_code });

  it('applies to the listed reasons and exit codes, up to its limit', () => {
    const always = { max: 2, when: ['always'], exit_codes: [] };
    assert.equal(shouldRetry(null, failed('script_failure'), 0), false);
    assert.equal(shouldRetry(always, failed('script_failure', 1), 1), true);
    assert.equal(shouldRetry(always, failed('script_failure', 1), 2), false);
    const ofRunner = { max: 2, when: ['runner_system_failure'], exit_codes: [] };
    assert.equal(shouldRetry(ofRunner, failed('script_failure', 1), 0), false);
    assert.equal(shouldRetry(ofRunner, failed('runner_system_failure'), 0), true);
    const ofCode = { max: 2, when: ['always'], exit_codes: [7] };
    assert.equal(shouldRetry(ofCode, failed('script_failure', 1), 0), false);
    assert.equal(shouldRetry(ofCode, failed('script_failure', 7), 0), true);
    const ofBoth = { max: 2, when: ['stuck_or_timeout_failure'], exit_codes: [7] };
    assert.equal(shouldRetry(ofBoth, failed('stuck_or_timeout_failure'), 0), true);
    assert.equal(shouldRetry(ofBoth, failed('script_failure', 7), 0), true);
  });

  it('creates a new job at once, and waiting jobs keep waiting', async () => {
    const id = await gantry.begin(`
stages: [build, test]
build: { stage: build, script: make, retry: 2 }
test: { stage: test, script: make }
`);
    for (const attempt of [1, 2]) {
      await fail(id, 'build');
      assert.equal(await gantry.states(id), 'build: pending, test: created', `attempt ${attempt}`);
      assert.equal((await gantry.job(id, 'build')).user_id, gantry.user);
    }
    await fail(id, 'build');
    assert.equal(await gantry.states(id), 'build: failed, test: skipped');
    assert.equal((await gantry.jobs(id)).filter(({ name }) => name === 'build').length, 3);
  });

  it('a job is retried only for the reasons that `retry:when` lists', async () => {
    const id = await gantry.begin('job: { script: make, retry: { max: 1, when: stuck_or_timeout_failure } }');
    const { id: job_id } = await gantry.job(id, 'job');
    const dropped = await gantry.write((tx) => failJob(tx, job_id, 'stuck_or_timeout_failure'));
    assert.deepEqual([dropped?.status, dropped?.retried], ['failed', 1]);
    assert.equal(await gantry.states(id), 'job: pending');
    await fail(id, 'job');
    assert.equal(await gantry.states(id), 'job: failed');
  });

  it('does not apply to a canceled or replaced job', async () => {
    const id = await gantry.begin('job: { script: make, retry: 2 }');
    await gantry.start(id, 'job');
    const { id: job_id } = await gantry.job(id, 'job');
    await gantry.write((tx) => cancelJob(tx, job_id));
    await gantry.write((tx) => retryJob(tx, job_id, gantry.user));
    await gantry.write((tx) => finishJob(tx, job_id, { status: 'failed', exit_code: 1 }));
    assert.equal((await gantry.jobs(id)).length, 2);
    assert.equal(await gantry.states(id), 'job: pending');
  });
});

describe('allow_failure', () => {
  const file = `
stages: [build, test]
build: { stage: build, script: make, allow_failure: { exit_codes: [137, 3] } }
test: { stage: test, script: make }
`;
  it('with exit codes lets the pipeline continue after these', async () => {
    const id = await gantry.begin(file);
    await fail(id, 'build', 3);
    assert.equal((await gantry.job(id, 'build')).allow_failure, 1);
    assert.equal(await gantry.states(id), 'build: failed, test: pending');
    await gantry.run(id, { test: 'success' });
    assert.equal((await gantry.pipeline(id)).status, 'success');
    const { id: job_id } = await gantry.job(id, 'build');
    const again = await gantry.write((tx) => retryJob(tx, job_id, gantry.user));
    assert.equal(again?.allow_failure, 0, 'the next may end otherwise');
  });

  it('with exit codes fails on any other code', async () => {
    const id = await gantry.begin(file);
    await fail(id, 'build', 1);
    assert.equal((await gantry.job(id, 'build')).allow_failure, 0);
    assert.equal(await gantry.states(id), 'build: failed, test: skipped');
  });
});

describe('a failure that cancels the pipeline', () => {
  const file = (more: string): string => `
workflow: { auto_cancel: { on_job_failure: all } }
a: { script: make${more} }
b: { script: make }
c: { script: make }
`;
  it('ends all other jobs, running and waiting', async () => {
    const id = await gantry.begin(file(''));
    await gantry.start(id, 'b');
    await fail(id, 'a');
    assert.equal(await gantry.states(id), 'a: failed, b: canceling, c: canceled');
  });

  it('does not apply to an allowed failure or to a retried job', async () => {
    const allowed = await gantry.begin(file(', allow_failure: true'));
    await fail(allowed, 'a');
    assert.equal(await gantry.states(allowed), 'a: failed, b: pending, c: pending');
    const again = await gantry.begin(file(', retry: 1'));
    await fail(again, 'a');
    assert.equal(await gantry.states(again), 'b: pending, c: pending, a: pending');
  });

  it('does nothing unless the file enables it', async () => {
    const id = await gantry.begin('a: { script: make }\nb: { script: make }');
    await fail(id, 'a');
    assert.equal(await gantry.states(id), 'a: failed, b: pending');
  });
});
