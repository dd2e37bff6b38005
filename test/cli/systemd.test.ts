/** Messages to systemd, received by a program `systemd-notify` of the test that writes down what it is told. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeSystemdNotifier } from '../../src/app/service/notify_systemd.ts';
import { newPlace } from './gantry.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-systemd-'));
const told = join(folder, 'told');
writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${told}'\n`);
chmodSync(join(folder, 'systemd-notify'), 0o755);
const place = newPlace();
after(async () => {
  await place.remove();
  rmSync(folder, { recursive: true });
});

const path = `${folder}:${process.env['PATH'] ?? ''}`;
const messages = (): string[] => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []);

const untilTold = async (text: string): Promise<void> => {
  for (let polls = 0; !messages().includes(text); polls += 1) {
    assert.ok(polls < 3000, `${text} was not told: ${messages().join('; ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('tells systemd that it is ready, alive and stopping', async () => {
  const env = { PATH: path, NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '100000' };
  const running = await place.serve('serve', { env });
  await untilTold('/run/notify WATCHDOG=1');
  assert.equal(messages()[0], '/run/notify --ready STATUS=');
  const { code } = await running.end('SIGTERM');
  assert.equal(code, 0);
  await untilTold('/run/notify STOPPING=1');
});

test('tells systemd that a repository storage is ready, alive and stopping', async () => {
  rmSync(told, { force: true });
  const env = {
    PATH: path,
    NOTIFY_SOCKET: '/run/notify',
    WATCHDOG_USEC: '100000',
    GANTRY_GITD_SECRET: 's'.repeat(32),
  };
  const running = await place.serve(`gitd --listen 127.0.0.1:0 --root ${folder}/repositories`, { env });
  await untilTold('/run/notify WATCHDOG=1');
  assert.equal(messages()[0], '/run/notify --ready STATUS=');
  assert.equal((await running.end('SIGTERM')).code, 0);
  await untilTold('/run/notify STOPPING=1');
});

test('extends the time of a long start until it is ready', async () => {
  rmSync(told, { force: true });
  const before = process.env['PATH'];
  Object.assign(process.env, { PATH: path, NOTIFY_SOCKET: '/run/notify' });
  const systemd = makeSystemdNotifier((error) => assert.fail(String(error)), 10);
  process.env['PATH'] = before;
  systemd.starting();
  const extension =
    '/run/notify EXTEND_TIMEOUT_USEC=600000000 STATUS=starting; an upgrade copies and migrates the database first';
  await untilTold(extension);
  systemd.ready();
  await untilTold('/run/notify --ready STATUS=');
});

test('tells nothing where systemd did not ask', async () => {
  rmSync(told, { force: true });
  const running = await place.serve('serve', { env: { PATH: path, WATCHDOG_USEC: '100000' } });
  assert.equal((await running.end('SIGTERM')).code, 0);
  assert.deepEqual(messages(), []);
});

test('keeps running without the program', async () => {
  const node = join(process.execPath, '..');
  const running = await place.serve('serve', {
    env: { PATH: `${node}:/nowhere`, NOTIFY_SOCKET: '/run/notify' },
  });
  const { code, stdout } = await running.end('SIGTERM');
  assert.equal(code, 0);
  assert.match(stdout, /cannot notify systemd/);
});
