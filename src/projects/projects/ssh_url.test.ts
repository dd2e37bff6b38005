/** The clone addresses that the page of installation shows for its settings of git over SSH. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { readConfig } from '../../platform/config/read_config.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/installation.md'), 'utf8');
/** Without an external URL, the host of the request counts. */
const host = 'code.example.com';
/** Rows of the table: settings, and the address. */
const rows = [...page.matchAll(/^\| (`GANTRY_SSH_LISTEN=[^|]+) \| `([^`|]+)` \|$/gm)].map(
  ([, settings = '', address = '']) => ({
    environment: Object.fromEntries(
      [...settings.matchAll(/`(\w+)=([^`]+)`/g)].map(([, name = '', value = '']) => [name, value]),
    ),
    address,
  }),
);

let at: TestService;
before(async () => {
  at = await startTestService();
});
after(async () => await at.close());

test('the clone addresses of the page are those of the API', async () => {
  assert.ok(page.includes(`With \`GANTRY_EXTERNAL_URL=https://${host}\``));
  assert.ok(rows.length >= 4);
  const { body: group } = await at.api('POST /groups', { json: { name: 'team', path: 'team' } });
  await at.api('POST /projects', { json: { name: 'site', namespace_id: group.id } });
  for (const { environment, address } of rows) {
    const { ssh_listen, ssh_external } = readConfig({}, environment).config;
    // Another service would need the ports of the page.
    Object.assign(at.service.platform.config, { ssh_listen, ssh_external });
    const { body } = await at.api('GET /projects/team%2Fsite', { headers: { host } });
    assert.equal(body.ssh_url_to_repo, address);
  }
});
