import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('answers the version to authenticated users', async () => {
  const reply = await gantry.api('GET /version');
  assert.equal(reply.status, 200);
  assert.match(reply.body.version, /^10\.0\.\d+$/);
  assert.equal((await gantry.api('GET /version', { as: null })).status, 401);
});

test('answers metadata with the same version, and without Kubernetes', async () => {
  const { status, body } = await gantry.api('GET /metadata');
  const { version, revision } = (await gantry.api('GET /version')).body;
  const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null };
  assert.deepEqual([status, body], [200, { version, revision, kas, enterprise: false }]);
  assert.equal((await gantry.api('GET /metadata', { as: null })).status, 401);
});
