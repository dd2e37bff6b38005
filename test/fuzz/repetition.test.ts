/**
 * Every parameter, header, file name and body shape with a fragment n and 2n times: the CPU that the service takes may
 * grow at most 2.5 times. What costs less than a floor at its full length is bounded by that. A seeded sample runs
 * each time, all of it where `GANTRY_TEST_ALL` is set.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { deriveCsrfToken, sessionCookie } from '../../src/core/access/credentials/session_token.ts';
import { endpoints } from '../../src/app/routes.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { openVisitor } from '../support/visitor.ts';
import { type Probe, headerProbes, probesOf, targetProbes } from './fragments.ts';
import { bodyProbes, fileNameProbes, longestBody } from './repeated_bodies.ts';
import type { Place } from './path_params.ts';
import { seedWorld, settleWithoutHooks } from './world.ts';

const sampled = 300;

/** Milliseconds of CPU below which a growth tells nothing. */
const floor = 15;
const mostGrowth = 2.5;
/**
 * What parsing a body may take beside its transport, in walks over as many bytes (a millisecond or less each): about
 * 20 ms, and as much again for the noise of a busy machine.
 */
const mostWalks = 40;
const rounds = 3;

let gantry: TestService;
let places: Place[];
let browser: Record<string, string>;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn', GANTRY_SLOW_STATEMENT: '0' });
  ({ places } = await seedWorld(gantry));
  const { status } = await gantry.api('PUT /users/1', {
    json: { password: 'correct horse battery' },
  });
  assert.equal(status, 200);
  const visitor = openVisitor(gantry);
  await visitor.signIn('root', 'correct horse battery');
  browser = {
    accept: 'text/html',
    cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    'x-csrf-token': deriveCsrfToken(visitor.cookies.get(sessionCookie) ?? ''),
  };
});
after(async () => {
  agent.destroy();
  await gantry.close();
});

type Sent = ReturnType<Probe['of']>;

/** The status; 0 where the connection was ended, even within an answer. */
const send = async (
  { method, url, body, type, headers }: Sent,
  own: Record<string, string>,
): Promise<number> =>
  await new Promise((resolve) => {
    const { hostname, port } = new URL(gantry.url);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const all = {
      ...own,
      ...length,
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    };
    try {
      const sent = request({ hostname, port, path: url, method, headers: all, agent }, (response) => {
        response.resume().on('error', () => resolve(0));
        response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
      });
      sent.on('error', () => resolve(0));
      sent.end(body);
    } catch {
      // The client does not send such a header or path.
      resolve(0);
    }
  });

/** Milliseconds of this process, in which the service runs. */
const costFor = async (work: () => Promise<unknown> | void): Promise<number> => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

/** The least of several: what else goes on only ever adds. */
const leastCost = async (work: () => Promise<unknown> | void): Promise<number> => {
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) costs.push(await costFor(work));
  return Math.min(...costs);
};

type Slow = { name: string; length: number; costs: number[] };

const growsTooMuch = async (
  cost: (length: number) => Promise<number>,
  length: number,
  least = floor,
): Promise<number[] | null> => {
  const costs = [await cost(Math.floor(length / 2)), await cost(length)];
  const [half = 0, whole = 0] = costs;
  return whole > least && whole > half * mostGrowth ? costs : null;
};

/** Suspects are measured again before they count: at twice the length where that is taken, or else the same way. */
const check = async (probe: Probe, own: Record<string, string>): Promise<Slow | null> => {
  const { name, longest, of } = probe;
  if ((await costFor(async () => await send(of(longest), own))) < floor) return null;
  const cost = async (length: number): Promise<number> =>
    await leastCost(async () => await send(of(length), own));
  const costs = await growsTooMuch(cost, longest);
  if (costs === null) return null;
  const canDouble = longest >= 32 * 1024 && longest <= longestBody / 2;
  const again = canDouble
    ? await growsTooMuch(cost, longest * 2, floor * mostGrowth)
    : await growsTooMuch(cost, longest);
  return again === null ? null : { name, length: longest, costs: [...costs, ...again] };
};

const checkAll = async (probes: Probe[], own: Record<string, string>, share = 1): Promise<void> => {
  const count = isWhole ? probes.length : Math.ceil(sampled * share);
  const some = isWhole ? probes : fc.sample(fc.constantFrom(...probes), { numRuns: count, seed });
  const slow: Slow[] = [];
  for (const probe of some) {
    const found = await check(probe, own);
    if (found !== null) slow.push(found);
  }
  await settleWithoutHooks(gantry);
  const lines = gantry.logged().splice(0);
  assert.deepEqual(
    lines.map((line) => `${line.slice(0, 400)} ... ${line.slice(-400)}`),
    [],
    `seed ${seed}`,
  );
  assert.deepEqual(slow, [], `seed ${seed}`);
};

const token = { 'private-token': rootToken };

/** Take away what the others need. */
const last =
  /^(?:DELETE|POST \/(?:users\/:id\/block|projects\/:id\/(?:archive|transfer))|PUT \/application\/settings)/;
const lineOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

test('headers', { timeout: 3_600_000 }, async () => {
  await checkAll(headerProbes, {}, 0.2);
  if (isWhole) await checkAll(headerProbes, token);
});

test('paths and queries', { timeout: 3_600_000 }, async () => await checkAll(targetProbes, token, 0.1));
test('names of files', { timeout: 3_600_000 }, async () => await checkAll(fileNameProbes, token, 0.05));

test('bodies of every endpoint', { timeout: 3_600_000 }, async () => {
  const bytes = Buffer.alloc(longestBody, 'a');
  const walk = await leastCost(() => {
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 1) sum += bytes[at] ?? 0;
    assert.ok(sum > 0);
  });
  const plain = { method: 'POST', url: '/oauth/token', type: 'text/plain', body: bytes.toString() };
  const most = (await leastCost(async () => await send(plain, {}))) + walk * mostWalks;
  const some = isWhole ? bodyProbes : fc.sample(fc.constantFrom(...bodyProbes), { numRuns: 20, seed });
  for (const { name, longest, of } of some) {
    const body = of(longest);
    const isLong = (await costFor(async () => await send(body, {}))) > most;
    const cost = isLong ? await leastCost(async () => await send(body, {})) : 0;
    assert.ok(cost <= most, `seed ${seed}: ${name}: ${cost} ms of at most ${most}`);
  }
  await checkAll(bodyProbes, token, 0.02);
});

test('parameters of endpoints', { timeout: 7_200_000 }, async () => {
  const { first = [], later = [] } = Object.groupBy(endpoints as never[], (one) =>
    last.test(lineOf(one)) ? 'later' : 'first',
  );
  const probes = [...first, ...later].map((one) => probesOf(one, places, seed));
  await checkAll(probes.flat(), token);
});

test('parameters of pages', { timeout: 3_600_000 }, async () => {
  const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
  const pages = [...new Set(loaded.flat())].filter(
    ({ path }) => !/^\/users\/sign_out|profile\/(?:password|sessions)/.test(path),
  );
  const probes = pages.flatMap((page) => probesOf(page as never, [], seed, ''));
  await checkAll(probes, browser, 0.2);
});
