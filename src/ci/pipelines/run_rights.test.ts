/** Tests that running or canceling a pipeline requires the same rights as each of its jobs. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { seedPipeline } from '../../../test/support/ci/jobs.ts';
import { openRequest, seedBranch, seedCoded } from '../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let project: Awaited<ReturnType<typeof seedCoded>>;
let developer: string;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());
beforeEach(async () => {
  project = await seedCoded(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  developer = user.token;
});

const protect = async (name: string): Promise<void> => {
  const json = { name, push_access_level: 40, merge_access_level: 40 };
  const { status } = await gantry.api(`POST /projects/${project.id}/protected_branches`, { json });
  assert.equal(status, 201);
};

/** Returns the statuses for a developer who cancels and retries a pipeline of the ref, then a job of another. */
const answers = async (ref: string, request?: number): Promise<number[]> => {
  const attributes = request === undefined ? {} : { merge_request: request };
  const make = async () =>
    await seedPipeline(gantry, { project: project.id, ref, file: 'a: { script: x }', ...attributes });
  const [whole, other] = [await make(), await make()];
  const at = `/projects/${project.id}`;
  const statuses: number[] = [];
  for (const path of [`pipelines/${whole.id}`, `jobs/${other.jobs['a']}`]) {
    for (const act of ['cancel', 'retry']) {
      const { status } = await gantry.api(`POST ${at}/${path}/${act}`, { as: developer });
      statuses.push(status);
    }
  }
  return statuses;
};

const [free, held] = [
  [201, 201, 201, 201],
  [403, 403, 403, 403],
];

describe("a project's own merge request", () => {
  let request: { id: number; iid: number };
  let ref: string;
  beforeEach(async () => {
    await seedBranch(gantry, project, 'topic');
    request = await openRequest(gantry, project, 'topic');
    ref = `refs/merge-requests/${request.iid}/head`;
  });

  test('developers may run it, even if its branch is protected from them', async () => {
    assert.deepEqual(await answers(ref, request.id), free);
    await protect('topic');
    assert.deepEqual(await answers(ref, request.id), free);
    assert.deepEqual(await answers('topic'), held);
  });

  test('developers may not run it if all names are protected from them', async () => {
    await protect('*');
    assert.deepEqual(await answers(ref, request.id), held);
  });
});

test('a branch requires the right to push or merge', async () => {
  assert.deepEqual(await answers('side'), free);
  await protect('side');
  assert.deepEqual(await answers('side'), held);
});
