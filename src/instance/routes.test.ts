import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('the version is told to those who sign in', async () => {
  const reply = await gantry.api('GET /version');
  assert.equal(reply.status, 200);
  assert.match(reply.body.version, /^10\.0\.\d+$/);
  assert.equal((await gantry.api('GET /version', { as: null })).status, 401);
});
