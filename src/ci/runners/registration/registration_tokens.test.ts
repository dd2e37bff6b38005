import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_TRUSTED_PROXIES: '127.0.0.1' });
});
after(async () => await gantry.close());

test('limits guesses of registration tokens by network, and serves other networks', async () => {
  gantry.setTime(Date.now());
  const statusFrom = async (ip: string): Promise<number> => {
    const sent = { as: null, json: { token: 'guessed' }, headers: { 'x-forwarded-for': ip } };
    return (await gantry.api('POST /runners', sent)).status;
  };
  for (let n = 1; n <= 300; n += 1) assert.equal(await statusFrom(`2001:db8:8:9::${n}`), 403);
  assert.equal(await statusFrom('2001:db8:8:9:ffff::1'), 429);
  assert.equal(await statusFrom('2001:db8:8:a::1'), 403);
});
