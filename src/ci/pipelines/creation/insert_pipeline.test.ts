/** Tests the rows of a new pipeline and the number of statements that write them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PipelineStore, openPipelineStore } from '../../../../test/support/ci/pipeline_store.ts';
import { type Meter, runMetered } from '../../../platform/db/statement_meter.ts';
import { advancePipeline } from '../processing/advance_pipeline.ts';
import { cancelPipeline, retryPipeline } from '../cancel_retry_delete.ts';
import { endedWork } from '../enqueue_pipeline_ended.ts';
import { type NewPipeline, insertPipeline } from './insert_pipeline.ts';
import { loadJobConfig } from '../pipeline_rows.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());
beforeEach(async () => {
  await gantry.write(async ({ db }) => await db.deleteFrom('pipelines').execute());
});

const metered = async (work: () => Promise<unknown>): Promise<number> => {
  const meter: Meter = { statements: 0, milliseconds: 0 };
  await runMetered(meter, work);
  return meter.statements;
};

const manyJobs = (count: number, more: (index: number) => string = () => ''): string =>
  Array.from(
    { length: count },
    (_one, index) => `j${index}: { script: make ${index % 7}${more(index)} }`,
  ).join('\n');

describe('a new pipeline', () => {
  it('takes the next number of its project, under concurrency', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => gantry.begin('job: { script: make }')));
    const iids = await Promise.all(ids.map(async (id) => (await gantry.pipeline(id)).iid));
    const sorted = iids.toSorted((a, b) => a - b);
    const [first = 0] = sorted;
    assert.deepEqual(sorted, [first, first + 1, first + 2, first + 3]);
  });

  it('shares job definitions with jobs of the same text', async () => {
    const text = 'job: { script: make, variables: { A: b } }';
    const [one, other] = [await gantry.begin(text), await gantry.begin(`# moved\n\n${text}`)];
    const [a, b] = [await gantry.job(one, 'job'), await gantry.job(other, 'job')];
    assert.equal(a.config_id, b.config_id);
    const config = await loadJobConfig(gantry.store.db, a);
    assert.deepEqual([config.script, config.variables], [['make'], [{ key: 'A', value: 'b', raw: false }]]);
  });

  it('stores the job fields that the service queries', async () => {
    const id = await gantry.begin(
      `
job:
  script: make
  tags: [linux, arm, linux]
  interruptible: true
  timeout: 10 minutes
  allow_failure: true
  environment: { name: review }
  resource_group: one
other: { script: make }
`,
      { protected: 1, tag: 1, ref: 'v1' },
    );
    const { tag_list, interruptible, timeout, allow_failure, environment, resource_group, ...job } =
      await gantry.job(id, 'job');
    assert.deepEqual(
      [tag_list, interruptible, timeout, allow_failure, environment, resource_group],
      ['["arm","linux"]', 1, 600, 1, 'review', 'one'],
    );
    assert.deepEqual([job.protected, job.tag, job.ref, job.user_id], [1, 1, 'v1', gantry.user]);
    assert.equal((await gantry.job(id, 'other')).timeout, 3600);
  });

  it('without jobs ends at once, and its end is published', async () => {
    const pipeline: NewPipeline['pipeline'] = {
      project_id: gantry.project,
      ref: 'main',
      tag: 0,
      sha: '1'.repeat(40),
      before_sha: '0'.repeat(40),
      source: 'push',
      protected: 0,
      user_id: gantry.user,
      status: 'failed',
      yaml_errors: 'jobs config should contain at least one visible job',
    };
    await gantry.takeWork(endedWork);
    const id = await gantry.write((tx) => insertPipeline(tx, { pipeline, jobs: [], timeout: 3600 }));
    const { status, yaml_errors, finished_at } = await gantry.pipeline(id);
    assert.deepEqual([status, yaml_errors], ['failed', pipeline.yaml_errors]);
    assert.notEqual(finished_at, null);
    assert.deepEqual(await gantry.takeWork(endedWork), [{ pipeline_id: id }]);
  });
});

describe('the number of statements for 500 jobs', () => {
  it('stays small when jobs are created and started', async () => {
    const file = manyJobs(500, (index) => (index > 0 && index % 2 === 0 ? `, needs: [j${index - 1}]` : ''));
    let id = 0;
    const made = await metered(async () => void (id = await gantry.begin(file)));
    assert.equal((await gantry.queued()).length, 251);
    assert.ok(made < 50, `${made} statements`);
    const again = await metered(() => gantry.write((tx) => advancePipeline(tx, id)));
    assert.ok(again < 10, `${again} statements`);
  });

  it('stays small when all jobs are canceled and retried', async () => {
    const id = await gantry.begin(manyJobs(500));
    const cancelled = await metered(() => gantry.write((tx) => cancelPipeline(tx, id)));
    assert.equal((await gantry.pipeline(id)).status, 'canceled');
    assert.ok(cancelled < 15, `${cancelled} statements`);
    const retried = await metered(() => gantry.write((tx) => retryPipeline(tx, id, gantry.user)));
    assert.equal((await gantry.queued()).length, 500);
    assert.ok(retried < 40, `${retried} statements`);
  });
});
