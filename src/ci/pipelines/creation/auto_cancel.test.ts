/** Tests that a newer pipeline of a ref cancels older ones. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PipelineStore, openPipelineStore, sha } from '../../../../test/support/ci/pipeline_store.ts';
import { cancelOlderPipelines, autoCancelWork } from './auto_cancel.ts';
import type { NewPipeline } from './insert_pipeline.ts';

let gantry: PipelineStore;

before(async () => void (gantry = await openPipelineStore()));
after(async () => await gantry.close());
beforeEach(async () => {
  await gantry.write(async ({ db }) => await db.deleteFrom('pipelines').execute());
  await gantry.takeWork(autoCancelWork);
});

const twoJobs = 'a: { script: make }\nb: { script: make, interruptible: true }';

const setProject = async (auto_cancel_pending_pipelines: 'enabled' | 'disabled') =>
  await gantry.write(
    async ({ db }) => await db.updateTable('projects').set({ auto_cancel_pending_pipelines }).execute(),
  );

/** Creates the pipeline of the next push and runs the work that follows. */
const pushNext = async (overrides: Partial<NewPipeline['pipeline']> = {}): Promise<boolean> => {
  await gantry.begin(twoJobs, { sha: sha(2), ...overrides });
  const work = await gantry.takeWork(autoCancelWork);
  for (const { pipeline_id } of work) await cancelOlderPipelines(gantry.store, Number(pipeline_id));
  return work.length > 0;
};

describe('an older pipeline', () => {
  it('is canceled while none of its jobs has started', async () => {
    const id = await gantry.begin(twoJobs);
    assert.equal(await pushNext(), true);
    assert.equal(await gantry.states(id), 'a: canceled, b: canceled');
    assert.equal((await gantry.pipeline(id)).status, 'canceled');
  });

  it('is canceled while only interruptible jobs have started', async () => {
    const id = await gantry.begin(twoJobs);
    await gantry.start(id, 'b');
    await pushNext();
    assert.equal(await gantry.states(id), 'a: canceled, b: canceling');
  });

  it('continues once another job has started', async () => {
    const id = await gantry.begin(twoJobs);
    await gantry.run(id, { a: 'success' });
    await pushNext();
    assert.equal(await gantry.states(id), 'a: success, b: pending');
  });

  it('with `interruptible` loses its interruptible jobs only', async () => {
    const id = await gantry.begin(twoJobs, { auto_cancel: 'interruptible' });
    await gantry.start(id, 'a');
    await pushNext();
    assert.equal(await gantry.states(id), 'a: running, b: canceled');
  });

  it('with `none` continues', async () => {
    const id = await gantry.begin(twoJobs, { auto_cancel: 'none' });
    await pushNext();
    assert.equal(await gantry.states(id), 'a: pending, b: pending');
  });

  it('continues if the project disables it', async () => {
    const id = await gantry.begin(twoJobs);
    await setProject('disabled');
    await pushNext();
    await setProject('enabled');
    assert.equal(await gantry.states(id), 'a: pending, b: pending');
  });
});

describe('a newer pipeline', () => {
  it('cancels only pipelines of its own ref', async () => {
    await gantry.begin(twoJobs, { ref: 'other' });
    await gantry.begin(twoJobs, { tag: 1 });
    assert.equal(await pushNext(), false);
  });

  it('of the same commit cancels nothing, nor does one of a schedule', async () => {
    await gantry.begin(twoJobs);
    assert.equal(await pushNext({ sha: sha(1) }), false);
    assert.equal(await pushNext({ source: 'schedule' }), false);
  });

  it('does nothing if all others have ended', async () => {
    const id = await gantry.begin('job: { script: make }');
    await gantry.run(id, { job: 'success' });
    assert.equal(await pushNext(), false);
  });
});
