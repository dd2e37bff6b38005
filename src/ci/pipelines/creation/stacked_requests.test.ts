/** Pipelines of merge requests that lie on others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { openRequest, seedBranch, settle, toPath } from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const config = `
into_main: { script: x, rules: [{ if: '$CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "main"' }] }
into_other: { script: x, rules: [{ if: '$CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "other"' }] }
`;

test('run as if on the branch that the lowest of the stack goes into', async () => {
  const project = await seedPushed(gantry);
  await project.push(config);
  await seedBranch(gantry, project, 'other');
  for (const [branch, from] of [
    ['lower', 'main'],
    ['middle', 'lower'],
    ['upper', 'middle'],
  ] as const)
    await seedBranch(gantry, project, branch, { from });
  const lower = await openRequest(gantry, project, 'lower');
  await openRequest(gantry, project, 'middle', { target_branch: 'lower' });
  const upper = await openRequest(gantry, project, 'upper', { target_branch: 'middle' });
  await settle(gantry);
  const jobsOf = async (request: object): Promise<string[]> => {
    const { body } = await gantry.api(`GET ${toPath(request)}/pipelines`);
    return body.length === 0 ? [] : await project.jobs(body[0].id);
  };
  assert.deepEqual(await jobsOf(upper), ['into_main']);
  const changed = await gantry.api(`PUT ${toPath(lower)}`, { json: { target_branch: 'other' } });
  assert.equal(changed.status, 200, changed.text);
  const made = await gantry.api(`POST ${toPath(upper)}/pipelines`);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(await project.jobs(made.body.id), ['into_other']);
  // A closed one is no part of a stack.
  await gantry.api(`PUT ${toPath(lower)}`, { json: { state_event: 'close' } });
  assert.equal((await gantry.api(`POST ${toPath(upper)}/pipelines`)).status, 400);
});
