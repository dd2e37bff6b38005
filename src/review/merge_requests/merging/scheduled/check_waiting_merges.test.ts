/** What the check of a group's waiting merges costs. `races.test.ts` shows what it finds. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countSteps } from '../../../../../test/gates/step_counter.ts';
import {
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  merge,
} from '../../../../../test/support/seed_merge_requests.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { type TestService, engine, startTestService } from '../../../../../test/support/service.ts';
import { checkMergesOfGroup } from './check_waiting_merges.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

/** Steps of SQLite's machine. */
const stepsOf = async (group: number): Promise<number> => {
  const counter = countSteps();
  try {
    await checkMergesOfGroup(gantry.service.platform, group);
    return counter
      .take()
      .filter(({ text }) => text.includes('recursive places'))
      .reduce((sum, { steps }) => sum + steps, 0);
  } finally {
    counter.stop();
  }
};

test('it costs the same in a group of many projects', { skip: engine !== 'sqlite' }, async () => {
  const group = await seedGroup(gantry);
  const coded = await seedCoded(gantry, { namespace: group.id });
  await seedBranch(gantry, coded, 'waiting');
  const request = await openRequest(gantry, coded, 'waiting', { title: 'Draft: x' });
  await settle(gantry);
  const { body } = await merge(gantry, request, { auto_merge: true });
  assert.equal(body.merge_when_pipeline_succeeds, true);
  const few = await stepsOf(group.id);
  for (let count = 0; count < 50; count += 1) await seedProject(gantry, { namespace: group.id });
  const many = await stepsOf(group.id);
  assert.ok(few > 0 && many === few, `${few} steps for one project, ${many} for 51`);
});
