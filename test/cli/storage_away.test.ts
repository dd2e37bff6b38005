/** Health while a repository storage on another machine is away. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace } from './gantry.ts';

const place = newPlace();
after(async () => await place.remove());

test('health names a storage that does not answer, and requests are still served', async () => {
  place.env['GANTRY_GITD_SECRET'] = 's'.repeat(32);
  const startGitd = async (listen: string) =>
    await place.serve(`gitd --listen ${listen} --root ${place.data}-repositories`);
  const gitd = await startGitd('127.0.0.1:0');
  const env = { GANTRY_REPOSITORY_STORAGES: `default,far=${gitd.url}` };
  const service = await place.serve('serve', { env });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(service.url + path, { headers });
    return { status: response.status, text: await response.text() };
  };
  const until = async (expected: { status: number; text: string }): Promise<void> => {
    let seen = await ask('/-/health');
    for (let polls = 0; seen.status !== expected.status && polls < 300; polls += 1) {
      await pause(100);
      seen = await ask('/-/health');
    }
    assert.deepEqual(seen, expected);
  };
  await until({ status: 200, text: 'OK' });
  await gitd.end('SIGKILL');
  await until({ status: 503, text: 'storages far failed' });
  const { status, checks } = JSON.parse((await ask('/-/health', { accept: 'application/json' })).text) as {
    status: string;
    checks: { storages: { name: string; status: string }[] };
  };
  assert.equal(status, 'failed');
  const states = checks.storages.map((one) => `${one.name} ${one.status}`);
  assert.deepEqual(states, ['default ok', 'far failed']);
  assert.equal((await ask('/-/readiness')).status, 200);
  assert.match((await ask('/-/metrics')).text, /^gantry_part_up\{part="storage:far"\} 0$/m);
  const again = await startGitd(new URL(gitd.url).host);
  await until({ status: 200, text: 'OK' });
  await again.end('SIGTERM');
});
