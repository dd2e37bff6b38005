import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { type Place, type Running, newPlace } from './gantry.ts';

let place: Place | undefined;
const fresh = (): Place => (place = newPlace());
afterEach(async () => await place?.remove());

/** A folder of several tests, each of which ends its service. */
const shared = newPlace();
after(async () => await shared.remove());

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Sends a request with half a body: the service waits for the rest. */
const halfRequest = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => void (text += part));
  const body = '{"state":"opened"}';
  const head = `POST /api/v4/version HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\n\r\n${body.slice(0, 4)}`);
  const ended = once(socket, 'close');
  return {
    finish: async (): Promise<string> => {
      socket.write(body.slice(4));
      await ended;
      return text;
    },
  };
};

/** Waits until the service has read earlier bytes of another connection. */
const settle = async (url: string): Promise<void> => void (await fetch(`${url}/-/liveness`));

/** Waits until the service has logged a text. @throws AssertionError if it exits first, or after a minute */
const untilLogged = async ({ stdout, child }: Running, text: string): Promise<void> => {
  for (let polls = 0; !stdout().includes(text); polls += 1) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    assert.ok(polls < 3000 && !hasEnded, `the service did not log ${text}: ${stdout()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('creates a private folder on the first start and prints the password of root once', async () => {
  const { data, serve } = fresh();
  const first = await serve();
  assert.equal(modeOf(data), '700');
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    const path = join(data, name);
    assert.equal(modeOf(path), statSync(path).isDirectory() ? '700' : '600', name);
  }
  const kept = readFileSync(join(data, 'initial_root_password'), 'utf8').trim();
  const { stderr, stdout } = await first.end('SIGTERM');
  assert.ok(kept.length >= 20 && stderr.includes(`password  ${kept}\n`), stderr);
  assert.ok(stderr.includes(join(data, 'initial_root_password')));
  assert.ok(!stdout.includes(kept), 'a password in the log');

  const secrets = readFileSync(join(data, 'secrets.json'), 'utf8');
  const second = await (await serve()).end('SIGTERM');
  assert.equal(second.code, 0);
  assert.doesNotMatch(second.stderr, /password/i);
  assert.equal(readFileSync(join(data, 'secrets.json'), 'utf8'), secrets);
});

test('neither prints nor logs a configured password', async () => {
  const { data, serve } = fresh();
  const running = await serve('serve', { env: { GANTRY_ROOT_PASSWORD: 'correct horse battery' } });
  const { stderr, stdout } = await running.end('SIGTERM');
  assert.doesNotMatch(stderr + stdout, /correct horse|initial_root_password/);
  assert.equal(existsSync(join(data, 'initial_root_password')), false);
});

test('logs JSON lines on standard output, one of them "listening" with the URL', async () => {
  const running = await shared.serve();
  await settle(running.url);
  const { stdout } = await running.end('SIGTERM');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; url?: string });
  const [listening, ...more] = lines.filter(({ msg }) => /listening/i.test(msg));
  assert.deepEqual([listening?.msg, listening?.url, more], ['listening', running.url, []]);
  assert.deepEqual(
    lines.slice(-2).map(({ msg }) => msg),
    ['stopping', 'stopped'],
  );
});

test('prints the banner as one JSON line with --json, with the password on the first start', async () => {
  const { data, serve } = fresh();
  const running = await serve('serve --json --log-level info');
  const banner = JSON.parse(
    running
      .stdout()
      .split('\n')
      .find((line) => line.includes('"root_password"')) ?? '{}',
  );
  assert.equal(banner.url, running.url);
  assert.equal(banner.root_password, readFileSync(join(data, 'initial_root_password'), 'utf8').trim());
  assert.doesNotMatch(running.stderr(), /answers on/);
  await running.end('SIGTERM');
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`answers open requests on ${signal}, then exits with 0`, async () => {
    const running = await shared.serve();
    const request = await halfRequest(running.url);
    await settle(running.url);
    running.child.kill(signal);
    await untilLogged(running, '"stopping"');
    await assert.rejects(fetch(running.url), 'a new connection is refused');
    assert.match(await request.finish(), /^HTTP\/1\.1 405 /);
    const { code, stdout } = await running.end();
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /cut/);
  });
}

test('exits despite keep-alive connections', async () => {
  const running = await shared.serve();
  await settle(running.url); // fetch keeps its connection
  const { code, stdout } = await running.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /cut/);
});

test('exits with 1 at once on a second signal', async () => {
  const running = await shared.serve();
  await halfRequest(running.url);
  await settle(running.url);
  running.child.kill('SIGTERM');
  await untilLogged(running, '"stopping"');
  assert.equal((await running.end('SIGTERM')).code, 1);
});

test('cuts a request that never ends, and exits with 0', async () => {
  const running = await shared.serve('serve', { env: { GANTRY_STOP_TIMEOUT: '1' } });
  await halfRequest(running.url);
  await settle(running.url);
  const { code, stdout } = await running.end('SIGTERM');
  assert.equal(code, 0);
  assert.match(stdout, /closing open connections[^]*"stopped"/);
});

test('fails readiness and serves requests while it drains; a second signal ends it at once', async () => {
  const running = await shared.serve('serve', { env: { GANTRY_DRAIN_DELAY: '600' } });
  running.child.kill('SIGTERM');
  await untilLogged(running, '"draining"');
  const statusOf = async (path: string): Promise<number> => (await fetch(running.url + path)).status;
  assert.deepEqual(
    await Promise.all(['/-/readiness', '/-/liveness', '/users/sign_in'].map(statusOf)),
    [503, 200, 200],
  );
  assert.equal((await running.end('SIGTERM')).code, 1);
});

test('stops after it has drained', async () => {
  const running = await shared.serve('serve', { env: { GANTRY_DRAIN_DELAY: '1' } });
  const { code, stdout } = await running.end('SIGTERM');
  assert.equal(code, 0);
  assert.match(stdout, /"draining"[^]*"stopping"[^]*"stopped"/);
});

test('keeps written data after a kill', async () => {
  const { serve } = fresh();
  const env = { GANTRY_ROOT_TOKEN: 'token-of-the-first-start' };
  await (await serve('serve', { env })).end('SIGKILL');
  const running = await serve();
  const headers = { 'private-token': env.GANTRY_ROOT_TOKEN };
  assert.equal((await fetch(`${running.url}/api/v4/version`, { headers })).status, 200);
});
