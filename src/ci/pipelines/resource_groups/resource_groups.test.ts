import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('lists, reads and edits the resource groups of a project', async () => {
  const { id } = await seedProject(gantry);
  const path = `/projects/${id}/resource_groups`;
  assert.deepEqual((await gantry.api(`GET ${path}`)).body, []);
  await seedPipeline(gantry, { project: id, file: 'job: { script: make, resource_group: live/one }' });
  await settle(gantry);
  const listed = await gantry.api(`GET ${path}`);
  assert.equal(listed.headers.get('x-total'), '1');
  const [group] = listed.body;
  assert.deepEqual([group.key, group.process_mode], ['live/one', 'unordered']);
  assert.deepEqual((await gantry.api(`GET ${path}/live%2Fone`)).body, group);
  const edited = await gantry.api(`PUT ${path}/live%2Fone`, { json: { process_mode: 'newest_first' } });
  assert.deepEqual([edited.status, edited.body.process_mode], [200, 'newest_first']);
  assert.equal((await gantry.api(`GET ${path}/live%2Fone`)).body.process_mode, 'newest_first');
  const wrong = await gantry.api(`PUT ${path}/live%2Fone`, { json: { process_mode: 'random' } });
  assert.deepEqual(wrong.body, { message: { process_mode: ['does not have a valid value'] } });
  const missing = await gantry.api(`GET ${path}/other`);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Resource Group Not Found' }]);
});

/** Three pipelines with two jobs each. The second job needs the first. The first job of the first pipeline holds the resource. */
const threePipelines = async () => {
  const project = await seedProject(gantry);
  const file =
    '{ stages: [a, b], first: { stage: a, script: x, when: manual, allow_failure: false }, ' +
    'second: { stage: b, script: x, needs: [first], resource_group: one }, ' +
    'holder: { stage: a, script: x, resource_group: one } }';
  const made = [];
  for (const _each of [1, 2, 3]) made.push(await seedPipeline(gantry, { project: project.id, file }));
  await settle(gantry);
  const path = `/projects/${project.id}/resource_groups/one`;
  const places = new Map(
    made.flatMap(({ jobs }, at) => Object.entries(jobs).map(([name, id]) => [id, `${at + 1} ${name}`])),
  );
  const upcoming = async (mode: string): Promise<(string | undefined)[]> => {
    await gantry.api(`PUT ${path}`, { json: { process_mode: mode } });
    await settle(gantry);
    const { body } = await gantry.api(`GET ${path}/upcoming_jobs`);
    return body.map(({ id }: { id: number }) => places.get(id));
  };
  const current = async () => places.get((await gantry.api(`GET ${path}/current_job`)).body.id);
  const end = async () => {
    const { body } = await gantry.api(`GET ${path}/current_job`);
    await gantry.api(`POST /projects/${project.id}/jobs/${body.id}/cancel`);
    await settle(gantry);
  };
  return { project: project.id, path, upcoming, current, end };
};

test('lists upcoming jobs in the order in which they run', async () => {
  const { upcoming, current } = await threePipelines();
  assert.equal(await current(), '1 holder');
  assert.deepEqual(await upcoming('unordered'), ['2 holder', '3 holder']);
  assert.deepEqual(await upcoming('newest_ready_first'), ['3 holder', '2 holder']);
  assert.deepEqual(await upcoming('oldest_first'), [
    '1 second',
    '2 holder',
    '2 second',
    '3 holder',
    '3 second',
  ]);
  assert.deepEqual(await upcoming('newest_first'), [
    '3 holder',
    '3 second',
    '2 holder',
    '2 second',
    '1 second',
  ]);
});

for (const [mode, next] of [
  ['unordered', '2 holder'],
  ['newest_ready_first', '3 holder'],
  ['newest_first', '3 holder'],
  // The group waits for the upcoming job of the oldest pipeline.
  ['oldest_first', undefined],
] as const) {
  test(`${mode}: the next is ${next ?? 'none yet'}`, async () => {
    const { upcoming, current, end } = await threePipelines();
    await upcoming(mode);
    await end();
    assert.equal(await current(), next);
  });
}

test('a free group has no current job', async () => {
  const { path, end, project } = await threePipelines();
  for (const _each of [1, 2, 3]) await end();
  const none = await gantry.api(`GET ${path}/current_job`);
  assert.deepEqual([none.status, none.body], [404, { message: '404 Not found' }]);
  const wrong = await gantry.api(`GET /projects/${project}/resource_groups/none/upcoming_jobs`);
  assert.deepEqual([wrong.status, wrong.body], [404, { message: '404 Resource Group Not Found' }]);
});
