/** Tests that the rows of a pipeline stay consistent under concurrent operations. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { type PipelineStore, openPipelineStore } from '../../../test/support/ci/pipeline_store.ts';
import type { Tx } from '../../platform/db/open.ts';
import { assignResource } from './resource_groups/assign_resource.ts';
import { cancelPipeline, retryPipeline } from './cancel_retry_delete.ts';
import { combineStatuses } from './processing/combine_statuses.ts';
import { isEnded } from '../../core/job_statuses.ts';
import {
  cancelJob,
  failJob,
  finishCanceling,
  finishJob,
  playJob,
  requeueJob,
  retryJob,
  startJob,
} from './processing/job_transitions.ts';
import type { Job } from './pipeline_rows.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());

const file = `
stages: [build, test, deploy]
a: { stage: build, script: make }
b: { stage: build, script: make, retry: 1 }
c: { stage: build, script: make, when: manual }
d: { stage: test, script: make, allow_failure: true, resource_group: one }
e: { stage: test, script: make, needs: [a, c], resource_group: one }
f: { stage: test, script: make, when: manual, allow_failure: false }
g: { stage: deploy, script: make, needs: [d] }
h: { stage: deploy, script: make, when: on_failure }
i: { stage: deploy, script: make, when: always }
`;

const jobNames = 'a b c d e f g h i'.split(' ');

let tokens = 0;

const acts = {
  start: (tx: Tx, { id }: Job) =>
    startJob(tx, id, { runner_id: 1, system_id: null, token_hash: `hash-${(tokens += 1)}`, timeout: 60 }),
  succeed: (tx: Tx, { id }: Job) => finishJob(tx, id, { status: 'success' }),
  fail: (tx: Tx, { id }: Job) => finishJob(tx, id, { status: 'failed', exit_code: 1 }),
  requeue: (tx: Tx, { id }: Job) => requeueJob(tx, id),
  drop: (tx: Tx, { id }: Job) => failJob(tx, id, 'runner_system_failure'),
  cancel: (tx: Tx, { id }: Job) => cancelJob(tx, id),
  end: (tx: Tx, { id }: Job) => finishCanceling(tx, id),
  play: (tx: Tx, { id }: Job) => playJob(tx, id, gantry.user),
  retry: (tx: Tx, { id }: Job) => retryJob(tx, id, gantry.user),
  cancelAll: (tx: Tx, { pipeline_id }: Job) => cancelPipeline(tx, pipeline_id),
  retryAll: (tx: Tx, { pipeline_id }: Job) => retryPipeline(tx, pipeline_id, gantry.user),
};

type Act = keyof typeof acts;

/** A random operation. Starts and successes are more likely than others. */
const anyAct = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Act>('start', 'succeed') },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(acts) as Act[])) },
);

const assign = async (): Promise<void> =>
  await assignResource(gantry.store, { project_id: gantry.project, key: 'one' });

const isWaiting = ({ status }: Job): boolean => status !== 'skipped' && !isEnded(status);

const check = async (id: number): Promise<void> => {
  const jobs = await gantry.jobs(id);
  const latest = jobs.filter(({ retried }) => retried === 0);
  const names = latest.map(({ name }) => name).toSorted();
  assert.deepEqual(names, jobNames, 'one of each counts');
  const pending = jobs.filter(({ status }) => status === 'pending').map((job) => job.id);
  assert.deepEqual(
    (await gantry.queued()).filter((one) => jobs.some((job) => job.id === one)),
    pending.toSorted((x, y) => x - y),
    'what is pending is in the queue',
  );
  const pipeline = await gantry.pipeline(id);
  assert.equal(pipeline.status, combineStatuses(latest), 'the pipeline is what its jobs are');
  assert.equal(pipeline.finished_at !== null, isEnded(pipeline.status));
  const stages = await gantry.store.db
    .selectFrom('stages')
    .selectAll()
    .where('pipeline_id', '=', id)
    .execute();
  for (const stage of stages) {
    const ofStage = latest.filter(({ stage_id }) => stage_id === stage.id);
    assert.equal(stage.status, combineStatuses(ofStage), `the stage ${stage.name} is what its jobs are`);
  }
  for (const job of jobs) {
    const runs = job.status === 'running' || job.status === 'canceling';
    assert.equal(job.token_hash !== null, runs, `${job.name} ${job.status} has a token while it runs`);
    const isOver = job.status === 'canceling' || (isEnded(job.status) && job.status !== 'skipped');
    assert.equal(job.finished_at !== null, isOver, `${job.name} ${job.status} has an end`);
  }
  const holders = jobs.filter(
    ({ status, resource_group }) =>
      resource_group !== null && ['pending', 'running', 'canceling'].includes(status),
  );
  assert.ok(holders.length <= 1, 'one at a time has the resource');
};

const newest = (jobs: readonly Job[], name: string): Job => {
  const found = jobs.findLast((job) => job.name === name);
  assert.ok(found !== undefined);
  return found;
};

const next: Partial<Record<Job['status'], Act>> = {
  manual: 'play',
  pending: 'start',
  running: 'succeed',
  canceling: 'end',
};

/** Completes all jobs until none is left to run. */
const finish = async (id: number): Promise<void> => {
  for (let left = 60; left > 0; left -= 1) {
    await assign();
    const waiting = (await gantry.jobs(id)).filter(isWaiting);
    if (waiting.length === 0) return;
    for (const job of waiting) {
      const act = next[job.status];
      if (act !== undefined) await gantry.write(async (tx) => void (await acts[act](tx, job)));
    }
  }
  assert.fail(`it does not end: ${await gantry.states(id)}`);
};

it('stays consistent under concurrent operations', async () => {
  const steps = fc.array(
    fc.array(fc.tuple(anyAct, fc.constantFrom(...jobNames)), { minLength: 1, maxLength: 5 }),
    {
      maxLength: 12,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (rounds) => {
      const id = await gantry.begin(file);
      for (const round of rounds) {
        const jobs = await gantry.jobs(id);
        const done = round.map(([act, name]) =>
          gantry.write(async (tx) => void (await acts[act](tx, newest(jobs, name)))),
        );
        await Promise.all([...done, assign()]);
        await check(id);
      }
      await finish(id);
      await check(id);
      assert.ok(isEnded((await gantry.pipeline(id)).status));
    }),
    { numRuns: 15 },
  );
});
