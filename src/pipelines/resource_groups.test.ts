import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../test/support/jobs.ts';
import { settle } from '../../test/support/requests.ts';
import { seedProject } from '../../test/support/seed.ts';
import { type TestService, startTestService } from '../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('the resource groups of a project are listed, read, and told their order', async () => {
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
