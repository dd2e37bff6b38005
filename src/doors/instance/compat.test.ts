/** Tests `GANTRY_COMPAT=decimal-strings`, for clients with fixed-point types. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { readConfig } from '../../platform/config/read_config.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_COMPAT: 'decimal-strings' });
});
after(async () => await gantry.close());

const path = '/application/settings';

it('answers decimals of the settings as strings, and accepts them', async () => {
  assert.equal((await gantry.api(`GET ${path}`)).body.polling_interval_multiplier, '1.0');
  for (const [sent, answered] of [
    ['1.5', '1.5'],
    [0, '0.0'],
    [0.25, '0.25'],
    ['1.0', '1.0'],
  ]) {
    const { body } = await gantry.api(`PUT ${path}`, { json: { polling_interval_multiplier: sent } });
    assert.equal(body.polling_interval_multiplier, answered);
  }
  assert.equal((await gantry.api(`GET ${path}`)).body.max_attachment_size, 10);
});

it('is validated at the start', () => {
  assert.throws(
    () => readConfig({}, { GANTRY_COMPAT: 'decimal-strings, other' }),
    /GANTRY_COMPAT has "other", which is not one of decimal-strings/,
  );
  assert.deepEqual(readConfig({}, {}).config.compat, []);
});
