/** Tests simultaneous claims on jobs of one pipeline. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { seedRunner } from '../../../../test/support/ci/fake_runner.ts';
import { type SeededProject, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Claimed, Unclaimed } from './claim_jobs.ts';
import { Claims } from './claim_batches.ts';
import type { RequestingRunner } from './match_runners.ts';
import { loadTaker } from './load_runner_facts.ts';

let gantry: TestService;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry);
});
after(async () => await gantry.close());

const takerFor = async (seed: { active?: 0 | 1 } = {}): Promise<RequestingRunner> => {
  const { store } = gantry.service.platform;
  const { id } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id], ...seed });
  const row = await store.db.selectFrom('runners').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return await loadTaker(store.db, row);
};

const pipeline = async (file: string): Promise<Record<string, number>> =>
  (await seedPipeline(gantry, { project: project.id, file })).jobs;

const wordOf = (outcome: Claimed | Unclaimed): string => ('job' in outcome ? 'given' : outcome.why);

const statusOf = async (id: number): Promise<string> => {
  const query = gantry.service.platform.store.db.selectFrom('jobs').select('status').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).status;
};

test('gives a job to one of several runners, and tells the others why not', async () => {
  const { a = 0, b = 0 } = await pipeline('a: { script: x }\nb: { script: y }');
  const claims = new Claims(gantry.service.platform);
  const [taker, paused] = [await takerFor(), await takerFor({ active: 0 })];
  const outcomes = await Promise.all([
    claims.claim({ taker, job_id: a }),
    claims.claim({ taker, job_id: a }),
    claims.claim({ taker: paused, job_id: b }),
    claims.claim({ taker, job_id: 1_000_000 }),
  ]);
  assert.deepEqual(outcomes.map(wordOf), ['given', 'taken', 'resting', 'taken']);
  assert.deepEqual([await statusOf(a), await statusOf(b)], ['running', 'pending']);
});

test('one job that fails to be claimed fails no other of its pipeline', async () => {
  const {
    a = 0,
    b = 0,
    c = 0,
  } = await pipeline('a: { script: x }\nb: { script: broken, environment: here }\nc: { script: z }');
  const { store } = gantry.service.platform;
  const config = store.db.selectFrom('jobs').select('config_id').where('id', '=', b);
  await store.write(
    async ({ db }) =>
      await db.updateTable('job_configs').set({ config: '{' }).where('id', '=', config).execute(),
  );
  const claims = new Claims(gantry.service.platform);
  const taker = await takerFor();
  const outcomes = await Promise.allSettled(
    [a, b, c].map(async (job_id) => await claims.claim({ taker, job_id })),
  );
  assert.deepEqual(
    outcomes.map((one) => (one.status === 'fulfilled' ? wordOf(one.value) : 'failed')),
    ['given', 'failed', 'given'],
  );
  assert.deepEqual(
    [await statusOf(a), await statusOf(b), await statusOf(c)],
    ['running', 'pending', 'running'],
  );
});
