import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PipelineStore, openPipelineStore } from '../../../test/support/ci/pipeline_store.ts';
import { cancelPipeline, deletePipeline, retryPipeline } from './cancel_retry_delete.ts';
import { cancelJob } from './processing/job_transitions.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());
beforeEach(async () => {
  await gantry.write(async ({ db }) => {
    await db.deleteFrom('pipelines').execute();
    await db.deleteFrom('job_configs').execute();
  });
});

const file = `
stages: [build, test, deploy]
a: { stage: build, script: make }
b: { stage: build, script: make }
c: { stage: build, script: make, when: manual }
test: { stage: test, script: make }
deploy: { stage: deploy, script: make, when: manual }
`;

describe('a cancelled pipeline', () => {
  it('has no waiting job; a running job ends when its runner learns of it', async () => {
    const id = await gantry.begin(file);
    await gantry.start(id, 'a');
    const pipeline = await gantry.write((tx) => cancelPipeline(tx, id));
    assert.equal(pipeline?.status, 'canceling');
    assert.equal(
      await gantry.states(id),
      'a: canceling, b: canceled, c: canceled, test: canceled, deploy: canceled',
    );
    assert.deepEqual(await gantry.queued(), []);
    assert.equal((await gantry.pipeline(id)).status, 'canceling');
  });

  it('ends at once if nothing ran; a finished pipeline stays unchanged', async () => {
    const id = await gantry.begin(file);
    assert.equal((await gantry.write((tx) => cancelPipeline(tx, id)))?.status, 'canceled');
    const done = await gantry.begin('job: { script: make }');
    await gantry.run(done, { job: 'failed' });
    assert.equal((await gantry.write((tx) => cancelPipeline(tx, done)))?.status, 'failed');
    assert.equal(await gantry.write((tx) => cancelPipeline(tx, id + 1_000)), null);
  });
});

describe('a retried pipeline', () => {
  it('has new jobs for the failed and canceled ones, and resumes there', async () => {
    const id = await gantry.begin(file, { user_id: null });
    await gantry.run(id, { a: 'success', b: 'failed' });
    assert.equal(await gantry.states(id), 'a: success, b: failed, c: manual, test: skipped, deploy: skipped');
    const c = await gantry.job(id, 'c');
    await gantry.write((tx) => cancelJob(tx, c.id));
    const pipeline = await gantry.write((tx) => retryPipeline(tx, id, gantry.user));
    assert.equal(pipeline?.status, 'running');
    assert.equal(
      await gantry.states(id),
      'a: success, b: pending, c: manual, test: created, deploy: created',
    );
    const [b, again] = [await gantry.job(id, 'b'), await gantry.job(id, 'c')];
    assert.deepEqual([b.user_id, again.retry_of_id], [gantry.user, c.id]);
    await gantry.run(id, { b: 'success' });
    assert.equal(
      await gantry.states(id),
      'a: success, b: success, c: manual, test: pending, deploy: created',
    );
  });

  it('keeps jobs waiting that wait for others', async () => {
    const id = await gantry.begin(file);
    await gantry.write((tx) => cancelPipeline(tx, id));
    await gantry.write((tx) => retryPipeline(tx, id, gantry.user));
    assert.equal(
      await gantry.states(id),
      'a: pending, b: pending, c: manual, test: created, deploy: created',
    );
  });

  it('a retry changes nothing in a pipeline without failures', async () => {
    const id = await gantry.begin('job: { script: make }');
    await gantry.run(id, { job: 'success' });
    const pipeline = await gantry.write((tx) => retryPipeline(tx, id, gantry.user));
    assert.equal(pipeline?.status, 'success');
    assert.equal((await gantry.jobs(id)).length, 1);
  });
});

describe('a deleted pipeline', () => {
  it('is deleted with all its rows; shared rows stay', async () => {
    const id = await gantry.begin('a: { script: make }\nb: { script: other }');
    const kept = await gantry.begin('a: { script: make }');
    const ids = (await gantry.jobs(id)).map((job) => job.id);
    const gone = { id, project_id: gantry.project };
    assert.deepEqual(await gantry.write((tx) => deletePipeline(tx, gone)), ids);
    assert.deepEqual(await gantry.jobs(id), []);
    assert.deepEqual(await gantry.queued(), [(await gantry.job(kept, 'a')).id]);
    const configs = await gantry.store.db.selectFrom('job_configs').select('config').execute();
    assert.deepEqual(
      configs.map(({ config }) => (JSON.parse(config) as { script: string[] }).script),
      [['make']],
    );
    assert.equal(await gantry.write((tx) => deletePipeline(tx, gone)), null);
  });
});
