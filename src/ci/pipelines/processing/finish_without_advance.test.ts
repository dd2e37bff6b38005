/** Tests that stages and pipeline match their jobs after every order of events, and that no job is left waiting. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type PipelineStore, openPipelineStore } from '../../../../test/support/ci/pipeline_store.ts';
import { combineStatuses } from './combine_statuses.ts';
import { cancelJob, finishJob, requeueJob, retryJob, startJob } from './job_transitions.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { computeNextStatuses } from './compute_next_statuses.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());

const job = (stage: string, more = ''): string => `{ stage: ${stage}, script: x${more} }`;

const files = [
  `stages: [one, two]
a: ${job('one')}
b: ${job('one')}
c: ${job('one', ', allow_failure: true')}
d: ${job('two')}
e: ${job('two', ', when: on_failure')}`,
  `stages: [one, two]
a: ${job('one')}
b: ${job('one')}
c: ${job('one')}
d: ${job('two', ', needs: [a]')}
e: ${job('two')}`,
];

const events = ['start', 'success', 'success', 'failed', 'cancel', 'requeue', 'retry'] as const;

type Event = { kind: (typeof events)[number]; at: number };

let tokens = 0;

const happens = async (pipeline: number, { kind, at }: Event): Promise<void> => {
  const jobs = await loadLatestJobs(gantry.store.db, pipeline);
  const { id = 0 } = jobs[at % jobs.length] ?? {};
  await gantry.write(async (tx) => {
    const start = { runner_id: 1, system_id: null, token_hash: `any-${(tokens += 1)}`, timeout: 60 };
    if (kind === 'start') await startJob(tx, id, start);
    else if (kind === 'cancel') await cancelJob(tx, id);
    else if (kind === 'requeue') await requeueJob(tx, id);
    else if (kind === 'retry') await retryJob(tx, id, gantry.user);
    else await finishJob(tx, id, { status: kind });
  });
};

const holds = async (pipeline: number): Promise<void> => {
  const jobs = await loadLatestJobs(gantry.store.db, pipeline);
  const shown = jobs.map(({ name, status }) => `${name} ${status}`).join();
  assert.deepEqual([...computeNextStatuses(jobs)], [], `a job stayed behind: ${shown}`);
  assert.equal((await gantry.pipeline(pipeline)).status, combineStatuses(jobs), shown);
  const stages = await gantry.store.db
    .selectFrom('stages')
    .select(['id', 'status'])
    .where('pipeline_id', '=', pipeline)
    .execute();
  for (const { id, status } of stages) {
    const ofStage = jobs.filter(({ stage_id }) => stage_id === id);
    assert.equal(status, combineStatuses(ofStage), shown);
  }
};

for (const [at, file] of files.entries()) {
  test(`a pipeline matches its jobs after each event, if jobs wait for ${at === 0 ? 'stages' : 'names'}`, async () => {
    const event = fc.record({ kind: fc.constantFrom(...events), at: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 12, maxLength: 24 }), async (all) => {
        const pipeline = await gantry.begin(file);
        // All jobs of the first stage run, so the one that ends is one of several.
        for (const start of [0, 1, 2]) await happens(pipeline, { kind: 'start', at: start });
        for (const one of all) {
          await happens(pipeline, one);
          await holds(pipeline);
        }
      }),
      { numRuns: 12, seed: 2018 },
    );
  });
}
