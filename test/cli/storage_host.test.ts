/** The run-through of a storage host, step by step: its machine, and a service that uses it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../support/servers/free_port.ts';
import { type Place, newPlace } from './gantry.ts';
import { type Machine, blockOf, gid, makeMachine } from './systemd_machine.ts';

const reasonToSkip =
  (process.getuid?.() !== 0 && 'needs root') ||
  (spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed');

/** Lines of a file with settings. */
const readSettings = (file: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

describe('a storage host', { skip: reasonToSkip }, () => {
  let machine: Machine;
  let place: Place;
  /** The page with an address of this machine. */
  let local = (text: string): string => text;
  before(async () => {
    machine = makeMachine();
    place = newPlace();
    const port = await freePort();
    local = (text) => text.replaceAll('10.0.0.5', '127.0.0.1').replaceAll(':9060', `:${port}`);
  });
  after(async () => {
    await place.remove();
    machine.remove();
  });

  test('is installed, and its unit starts as the user gantry', async () => {
    await machine.run(local(blockOf('scaling.md', 'openssl req')));
    await machine.run(local(blockOf('scaling.md', '/etc/gantry/gitd.env')));
    const output = await machine.run(local(blockOf('scaling.md', 'enable --now gantry-gitd')));
    assert.equal(output, '');
    assert.match(readFileSync(join(machine.home, 'gitd.log'), 'utf8'), /answers on tls:\/\/127\.0\.0\.1/);
    const modes = ['gitd.env', 'gitd.key'].map((name) => {
      const stats = statSync(machine.onMachine(`/etc/gantry/${name}`));
      return [stats.mode & 0o777, stats.uid, stats.gid];
    });
    assert.deepEqual(modes, [
      [0o600, 0, 0],
      [0o640, 0, gid],
    ]);
  });

  test('a service keeps new repositories there', async () => {
    const block = blockOf('scaling.md', '/etc/gantry/storages.crt').replaceAll(/^gantry-run.*$/gm, '');
    const { GANTRY_GITD_SECRET: secret = '' } = readSettings(machine.onMachine('/etc/gantry/gitd.env'));
    assert.match(secret, /^[0-9a-f]{64}$/);
    await machine.run(local(block).replaceAll('SECRET-OF-GITD-ENV', secret));
    const settings = readSettings(machine.onMachine('/etc/gantry/gantry.env'));
    const env = { ...settings, GANTRY_ROOT_TOKEN: 'token-of-storage-host' };
    const { url, end } = await place.serve('serve', { env });
    const api = async (line: string, json?: object) => {
      const [method = '', path = ''] = line.split(' ');
      const response = await fetch(`${url}/api/v4${path}`, {
        method,
        headers: { 'private-token': env.GANTRY_ROOT_TOKEN, 'content-type': 'application/json' },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      assert.ok(response.ok, `${line}: ${response.status}`);
      return (await response.json()) as Record<string, unknown>;
    };
    await api('PUT /application/settings', { repository_storages: ['fast'] });
    const project = await api('POST /projects', { name: 'bridge', initialize_with_readme: true });
    assert.equal((await api(`GET /projects/${String(project['id'])}`))['repository_storage'], 'fast');
    assert.ok(existsSync(machine.onMachine('/var/lib/gantry-repositories/gantry-instance')));
    assert.equal((await end('SIGTERM')).code, 0);
  });
});
