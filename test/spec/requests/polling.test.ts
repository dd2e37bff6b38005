/** The setting `polling_interval_multiplier`: how long clients wait between polls. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedIssue, seedProject } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let issue: string;
before(async () => {
  gantry = await startTestService();
  const { id } = await seedProject(gantry);
  issue = `/projects/${id}/issues/${(await seedIssue(gantry, { project: id })).iid}`;
});
after(async () => await gantry.close());

const hint = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await gantry.api(`GET ${path}`, { headers });
  return [reply.status, reply.headers.get('poll-interval')];
};

test('an issue and its notes send a polling interval, also with 304', async () => {
  assert.deepEqual(await hint(issue), [200, '10000']);
  assert.deepEqual(await hint(`${issue}/notes`), [200, '10000']);
  const etag = (await gantry.api(`GET ${issue}/notes`)).headers.get('etag') ?? '';
  assert.deepEqual(await hint(`${issue}/notes`, { 'if-none-match': etag }), [304, '10000']);
});

test('polling_interval_multiplier multiplies it, and 0 turns polling off', async () => {
  for (const [multiplier, interval] of [
    [2.5, '25000'],
    [0.33333, '3333'],
    [0, '-1'],
    [1, '10000'],
  ]) {
    const json = { polling_interval_multiplier: multiplier };
    assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
    assert.deepEqual(await hint(issue), [200, interval]);
  }
});

test('records that nobody polls send none', async () => {
  for (const path of ['/version', '/projects', `${issue}/award_emoji`]) {
    assert.deepEqual(await hint(path), [200, null]);
  }
});
