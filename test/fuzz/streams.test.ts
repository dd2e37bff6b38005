/**
 * Bodies that are read as streams, by the service, gitd and git, n and 2n times as long: the CPU of all three together
 * may grow at most 2.5 times. A seeded sample runs each time, all of it where `GANTRY_TEST_ALL` is set.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { seedRunner } from '../support/ci/fake_runner.ts';
import { seedPipeline } from '../support/ci/jobs.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { seedProject } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Watch, costFor, growsTwice, leastCost, watchOwn, watchTree } from './cpu.ts';
import type { Probe } from './fragments.ts';
import { gitProbes } from './git_probes.ts';
import { longestBody } from './repeated_bodies.ts';
import { type RunningJob, maskedValue, runnerProbes } from './runner_probes.ts';
import { makeSender } from './send.ts';

let gantry: TestService;
let sender: ReturnType<typeof makeSender>;
let oid: string;
let job: RunningJob;
let runner: string;

const ciFile = 'test: { script: make }\n';

before(async () => {
  gantry = await startTestService();
  sender = makeSender(gantry.url);
  const { id } = await seedProject(gantry, { path: 'first', visibility: 'public' });
  oid = await seedCommit(gantry, id, { 'README.md': 'Read me\n' });
  const json = { key: 'MASKED', value: maskedValue, masked: true };
  const made = await gantry.api(`POST /projects/${id}/variables`, { json });
  assert.equal(made.status, 201, made.text);
  await seedPipeline(gantry, { project: id, file: ciFile, sha: oid });
  runner = (await seedRunner(gantry)).token;
  const taken = await gantry.api('POST /jobs/request', {
    as: null,
    json: { token: runner, info: { features: {} } },
  });
  assert.equal(taken.status, 201, taken.text);
  job = { id: taken.body.id, token: taken.body.token };
});
after(async () => {
  sender.close();
  await gantry.close();
});

type Slow = { name: string; costs: number[] };

const draw = <T>(all: readonly T[], count: number): readonly T[] =>
  isWhole ? all : fc.sample(fc.constantFrom(...all), { numRuns: count, seed });

const checkAll = async (probes: readonly Probe[], watch: Watch, least: number): Promise<void> => {
  const slow: Slow[] = [];
  for (const { name, longest, of } of probes) {
    const cost = async (length: number): Promise<number> => {
      const sent = of(length);
      return await leastCost(async () => await sender.send(sent), watch);
    };
    const sent = of(longest);
    if ((await costFor(async () => await sender.send(sent), watch)) < least) continue;
    const canDouble = longest >= 32 * 1024 && longest <= longestBody / 2;
    const costs = await growsTwice({ cost, length: longest, least }, canDouble ? longest * 2 : longest);
    if (costs !== null) slow.push({ name, costs });
  }
  assert.deepEqual(slow, [], `seed ${seed}`);
};

/** Git's own processes are counted in hundredths of a second. */
const floorOfTree = 40;

test(
  'git',
  { timeout: 3_600_000 },
  async () => await checkAll(draw(gitProbes(oid), 10), watchTree, floorOfTree),
);

test('runners', { timeout: 3_600_000 }, async () => {
  await checkAll(draw(runnerProbes(job, runner), 15), watchOwn, 15);
});
