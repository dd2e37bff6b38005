/** Allowed addresses or the token give access to health and metrics; a proxy does not make remote clients local. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

const paths = ['/-/health', '/-/liveness', '/-/readiness', '/-/metrics'];
const token = 'token-of-a-monitor-elsewhere';
const [monitor, proxy, stranger] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

let usual: TestService;
let gantry: TestService;
before(async () => {
  usual = await startTestService();
  gantry = await startTestService({
    GANTRY_MONITORING_ALLOW: `${monitor}, 192.0.2.0/24, 2001:db8::/32`,
    GANTRY_MONITORING_TOKEN: token,
    GANTRY_TRUSTED_PROXIES: proxy,
  });
  // Health asks gitd, which takes its time to start on a busy machine.
  for (const { service } of [usual, gantry]) await service.platform.git.status('default');
});
after(async () => await Promise.all([usual.close(), gantry.close()]));

/** Requests all monitoring paths and returns their common status, or all statuses if they differ. */
const statusFrom = async (
  { url }: TestService,
  localAddress: string,
  headers: Record<string, string> = {},
): Promise<number> => {
  const statuses = await Promise.all(
    paths.map(async (path) => {
      const sent = request(`${url}${path}`, { localAddress, headers, agent: false }).end();
      const [response] = await once(sent, 'response');
      response.resume();
      return response.statusCode as number;
    }),
  );
  assert.equal(new Set(statuses).size, 1, statuses.join());
  return statuses[0] ?? 0;
};

test('by default admits this machine only, never through a proxy', async () => {
  assert.equal(await statusFrom(usual, '127.0.0.1'), 200);
  for (const headers of [
    { 'x-forwarded-for': '198.51.100.7' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-forwarded-proto': 'https' },
    { via: '1.1 proxy' },
  ])
    assert.equal(await statusFrom(usual, '127.0.0.1', headers), 404, JSON.stringify(headers));
  assert.equal(await statusFrom(usual, '127.0.0.1', { authorization: 'Bearer null' }), 200);
});

test('the allow-list replaces the default, and the token admits from anywhere', async () => {
  assert.equal(await statusFrom(gantry, monitor), 200);
  assert.equal(await statusFrom(gantry, stranger), 404);
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal(await statusFrom(gantry, stranger, bearer), 200);
  assert.equal(await statusFrom(gantry, stranger, { ...bearer, 'x-forwarded-for': '198.51.100.7' }), 200);
  assert.equal(await statusFrom(gantry, stranger, { authorization: `Bearer ${token}x` }), 404);
  assert.equal(await statusFrom(gantry, stranger, { authorization: token }), 404);
});

test('through a trusted proxy, the forwarded address counts', async () => {
  for (const [headers, expected] of [
    [{ 'x-forwarded-for': '192.0.2.9' }, 200],
    [{ 'x-forwarded-for': '198.51.100.7' }, 404],
    [{ 'x-forwarded-for': '192.0.2.9, 198.51.100.7' }, 404],
    [{ 'x-real-ip': '192.0.2.9' }, 200],
    [{ 'x-real-ip': '198.51.100.7' }, 404],
    [{ 'x-forwarded-for': '192.0.2.9', 'x-real-ip': '198.51.100.7' }, 404],
    [{ forwarded: 'for=192.0.2.9;proto=https' }, 200],
    [{ forwarded: 'proto=https;for="[2001:db8::1]:4711"' }, 200],
    [{ forwarded: 'for=192.0.2.9, for=198.51.100.7:80' }, 404],
    [{ forwarded: 'for=unknown' }, 404],
    [{ 'x-forwarded-proto': 'https' }, 404],
    [{}, 404],
  ] as const)
    assert.equal(await statusFrom(gantry, proxy, headers), expected, JSON.stringify(headers));
});
