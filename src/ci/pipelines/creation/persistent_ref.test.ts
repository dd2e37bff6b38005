/** Tests how often the refs that keep commits of pipelines are checked. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { type Coded, seedCoded } from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { ensurePipelineRef, ensurePipelineRefCached, pipelineRefName } from './persistent_ref.ts';
import { type Pipeline, selectPipelineById } from '../pipeline_rows.ts';
import { openRepository } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
/** The checked ref names, one list per request. */
let asked: string[][] = [];

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
});
after(async () => await gantry.close());
beforeEach(() => void (asked = []));

const watched = async (id: number): Promise<Repository> => {
  const repository = await openRepository(gantry, id);
  const ask = (async (method, params, ...more) => {
    const answer = await repository.ask(method, params, ...more);
    if (method === 'refs.get') asked.push((params as { names: string[] }).names);
    return answer;
  }) as Repository['ask'];
  return { ...repository, ask };
};

const pipelineOf = async (id: number): Promise<Pipeline> => {
  const [row] = await selectPipelineById(gantry.service.platform.store.db, { id });
  assert.ok(row);
  return row;
};

const seed = async (): Promise<Pipeline> => {
  const file = 'a: { script: make }';
  const { id } = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
  return await pipelineOf(id);
};

const keepRef = async (pipeline: Pipeline, was = pipeline.updated_at): Promise<void> =>
  await ensurePipelineRefCached(gantry.service.platform, await watched(pipeline.project_id), pipeline, was);

test('checks the ref of a running pipeline once, and again after the pipeline has ended', async () => {
  const pipeline = await seed();
  const { id, updated_at: made } = pipeline;
  await keepRef(pipeline);
  await keepRef({ ...pipeline, updated_at: made + 5 }, made);
  await keepRef({ ...pipeline, updated_at: made + 5 });
  const own = asked.filter(([name]) => name === pipelineRefName(id));
  assert.equal(own.length, 1);
  await keepRef({ ...pipeline, updated_at: made + 20 }, made + 10);
  assert.equal(asked.filter(([name]) => name === pipelineRefName(id)).length, 2);
});

test('does not check a ref that this process has just created', async () => {
  const pushed = await seedPushed(gantry);
  await pushed.push('a: { script: make }');
  const [{ id }] = (await gantry.api(`GET ${pushed.path}/pipelines`)).body;
  await keepRef(await pipelineOf(id));
  assert.deepEqual(asked, []);
});

test('checks the refs of the next waiting pipelines in one request', async () => {
  const { platform } = gantry.service;
  const all = [await seed(), await seed(), await seed(), await seed()];
  const [first, second, third, lost] = all as [Pipeline, Pipeline, Pipeline, Pipeline];
  for (const pipeline of [second, third]) {
    await ensurePipelineRef(platform, pipeline);
  }
  await keepRef(first);
  const names = [second, third, lost].map(({ id }) => pipelineRefName(id));
  while (!asked.some((some) => names.every((name) => some.includes(name)))) await wait(5);
  await wait(0);
  asked = [];
  await keepRef({ ...second, updated_at: second.updated_at + 5 }, second.updated_at);
  await keepRef(third);
  assert.deepEqual(asked, []);
  // A missing ref is created when it is needed.
  await keepRef(lost);
  assert.deepEqual(asked[0], [pipelineRefName(lost.id)]);
});
