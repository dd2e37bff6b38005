/** Tests the background work of pipelines in a running service. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type SeededPipeline, seedPipeline } from '../../../test/support/ci/jobs.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { finishJob, retryJob, startJob } from './processing/job_transitions.ts';
import { ensurePipelineRef, pipelineRefName } from './creation/persistent_ref.ts';
import { findRef } from '../../code/repository/refs/resolve.ts';
import { openRepository } from '../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
});
after(async () => await gantry.close());
beforeEach(() => gantry.setTime(null));

const write: TestService['service']['platform']['store']['write'] = async (work) =>
  await gantry.service.platform.store.write(work);

const run = async ({ jobs }: SeededPipeline, name: string, status: 'success' | 'failed'): Promise<void> => {
  const id = jobs[name] ?? 0;
  const to = { runner_id: 1, system_id: 's_1', token_hash: `hash-${id}`, timeout: 60 };
  await write(async (tx) => await startJob(tx, id, to));
  await write(async (tx) => await finishJob(tx, id, { status, exit_code: status === 'failed' ? 1 : 0 }));
};

const statusOf = async (id: number | undefined): Promise<string | undefined> => {
  const { db } = gantry.service.platform.store;
  const job = await db
    .selectFrom('jobs')
    .select('status')
    .where('id', '=', id ?? 0)
    .executeTakeFirst();
  return job?.status;
};

const deferred = async (): Promise<Request> => {
  const branch = `deferred-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  const { status, body } = await merge(gantry, request, { merge_when_pipeline_succeeds: true });
  assert.equal(status, 200);
  await settle(gantry);
  return body;
};

const pipelineOf = async (request: Request, attributes: { merge_request?: number } = {}) => {
  const ref =
    attributes.merge_request === undefined
      ? request.source_branch
      : `refs/merge-requests/${request.iid}/head`;
  const file = 'a: { script: make }\nb: { script: make }';
  return await seedPipeline(gantry, { project: project.id, file, sha: request.sha, ref, ...attributes });
};

const todosOn = async (request: Request) =>
  await gantry.service.platform.store.db
    .selectFrom('todos')
    .select(['action', 'state'])
    .where('target_id', '=', request.id)
    .where('action', '=', 'build_failed')
    .orderBy('id')
    .execute();

describe('the end of a pipeline', () => {
  it('merges the merge request that waited for its success, not before', async () => {
    const request = await deferred();
    const pipeline = await pipelineOf(request);
    await run(pipeline, 'a', 'success');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    await run(pipeline, 'b', 'success');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'merged');
  });

  it('reports a failure, and a successful retry merges', async () => {
    const request = await deferred();
    const pipeline = await pipelineOf(request);
    await run(pipeline, 'a', 'success');
    await run(pipeline, 'b', 'failed');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    assert.equal((await todosOn(request)).length, 1);
    const again = await write(async (tx) => await retryJob(tx, pipeline.jobs['b'] ?? 0, 1));
    await run({ ...pipeline, jobs: { b: again?.id ?? 0 } }, 'b', 'success');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'merged');
  });

  it('marks the todo of its author as done once the failed job, or all of them, run again', async () => {
    const request = await deferred();
    const pipeline = await pipelineOf(request);
    await run(pipeline, 'a', 'success');
    await run(pipeline, 'b', 'failed');
    await settle(gantry);
    const states = async () => (await todosOn(request)).map(({ state }) => state);
    assert.deepEqual(await states(), ['pending']);
    const { status, body } = await gantry.api(
      `POST /projects/${project.id}/jobs/${pipeline.jobs['b']}/retry`,
    );
    assert.equal(status, 201);
    assert.deepEqual(await states(), ['done']);

    await run({ ...pipeline, jobs: { b: body.id } }, 'b', 'failed');
    await settle(gantry);
    assert.deepEqual(await states(), ['done', 'pending']);
    const other = await gantry.api(`POST /projects/${project.id}/pipelines/${pipeline.id}/retry`);
    assert.equal(other.status, 201);
    assert.deepEqual(await states(), ['done', 'done']);
  });

  it('does so for a merge request pipeline, and keeps todos of other merge requests', async () => {
    const [one, other] = [await deferred(), await deferred()];
    const pipelines = [await pipelineOf(one, { merge_request: one.id }), await pipelineOf(other)] as const;
    for (const pipeline of pipelines) {
      await run(pipeline, 'a', 'success');
      await run(pipeline, 'b', 'failed');
    }
    await settle(gantry);
    const again = await gantry.api(`POST /projects/${project.id}/jobs/${pipelines[0].jobs['b']}/retry`);
    assert.equal(again.status, 201);
    const left = [await todosOn(one), await todosOn(other)].flat();
    assert.deepEqual(
      left.map(({ state }) => state),
      ['done', 'pending'],
    );
  });

  it('of an older pipeline merges nothing while a newer one of the same head runs', async () => {
    const request = await deferred();
    const older = await pipelineOf(request);
    const newer = await pipelineOf(request, { merge_request: request.id });
    for (const name of ['a', 'b']) await run(older, name, 'success');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    for (const name of ['a', 'b']) await run(newer, name, 'success');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).state, 'merged');
  });

  it('deletes the ref that kept its commit', async () => {
    const { platform } = gantry.service;
    const pipeline = await seedPipeline(gantry, {
      project: project.id,
      file: 'a: { script: make }',
      sha: project.first,
    });
    await ensurePipelineRef(platform, { ...pipeline, sha: project.first });
    const repository = await openRepository(gantry, project.id);
    assert.notEqual(await findRef(repository, pipelineRefName(pipeline.id)), null);
    await run(pipeline, 'a', 'failed');
    await settle(gantry);
    assert.equal(await findRef(repository, pipelineRefName(pipeline.id)), null);
  });
});

describe('a waiting job', () => {
  it('with a delay starts when the delay has passed', async () => {
    const file = 'job: { script: make, when: delayed, start_in: 1 hour }';
    const { jobs } = await seedPipeline(gantry, { project: project.id, file });
    await settle(gantry);
    assert.equal(await statusOf(jobs['job']), 'scheduled');
    gantry.setTime(Date.now() + 3_700_000);
    await settle(gantry);
    assert.equal(await statusOf(jobs['job']), 'pending');
  });

  it('for a resource gets it when the other job has ended', async () => {
    const file = 'job: { script: make, resource_group: one }';
    const first = await seedPipeline(gantry, { project: project.id, file });
    const second = await seedPipeline(gantry, { project: project.id, file });
    await settle(gantry);
    assert.deepEqual(
      [await statusOf(first.jobs['job']), await statusOf(second.jobs['job'])],
      ['pending', 'waiting_for_resource'],
    );
    await run(first, 'job', 'success');
    await settle(gantry);
    assert.equal(await statusOf(second.jobs['job']), 'pending');
  });
});
