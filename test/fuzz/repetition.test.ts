/**
 * Every parameter, header, file name and body shape with a fragment n and 2n times: the CPU that the service takes may
 * grow at most 2.5 times. What costs less than a floor at its full length is bounded by that. A seeded sample runs
 * each time, all of it where `GANTRY_TEST_ALL` is set.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { deriveCsrfToken, sessionCookie } from '../../src/core/access/credentials/session_token.ts';
import { endpoints } from '../../src/app/routes.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { openVisitor } from '../support/visitor.ts';
import { compositeProbes } from './composite_probes.ts';
import { costFor, floor, growsTwice, leastCost, watchOwn, watchTree } from './cpu.ts';
import { type Probe, probesOf } from './fragments.ts';
import { headerProbes, targetProbes } from './header_probes.ts';
import type { Place } from './path_params.ts';
import { bodyProbes, fileNameProbes, longestBody } from './repeated_bodies.ts';
import { makeSender } from './send.ts';
import { seedWorld, settleWithoutHooks } from './world.ts';

const sampled = 150;

let gantry: TestService;
let places: Place[];
let browser: Record<string, string>;
let sender: ReturnType<typeof makeSender>;

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn', GANTRY_SLOW_STATEMENT: '0' });
  sender = makeSender(gantry.url);
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
  sender.close();
  await gantry.close();
});

type Slow = { name: string; length: number; costs: number[] };

/** Code is read by gitd and git, whose processes cost more than a growth from nothing tells. */
const asksGit = (name: string): boolean =>
  /\/repository\/|-\/(?:blob|blame|commits?|compare|tree|raw)|action/.test(name);
const floorOfGit = 80;

/** Suspects are measured again before they count: at twice the length if accepted, else at the same length. */
const check = async ({ name, longest, of }: Probe, own: Record<string, string>): Promise<Slow | null> => {
  const [watch, least] = asksGit(name) ? [watchTree, floorOfGit] : [watchOwn, floor];
  if ((await costFor(async () => await sender.send(of(longest), own), watch)) < least) return null;
  const cost = async (length: number): Promise<number> =>
    await leastCost(async () => await sender.send(of(length), own), watch);
  const canDouble = longest >= 32 * 1024 && longest <= longestBody / 2;
  const costs = await growsTwice({ cost, length: longest, least }, canDouble ? longest * 2 : longest);
  return costs === null ? null : { name, length: longest, costs };
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

/** Requests that break the following ones; they run last. */
const last =
  /^(?:DELETE|POST \/(?:users\/:id\/block|projects\/:id\/(?:archive|transfer))|PUT \/application\/settings)/;
const lineOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

test('headers', { timeout: 3_600_000 }, async () => {
  await checkAll(headerProbes, {}, 0.2);
  if (isWhole) await checkAll(headerProbes, token);
});

test('paths and queries', { timeout: 3_600_000 }, async () => await checkAll(targetProbes, token, 0.1));
test('names of files', { timeout: 3_600_000 }, async () => await checkAll(fileNameProbes, token, 0.05));

test('parameters that hold records', { timeout: 3_600_000 }, async () => {
  await checkAll(compositeProbes, token, 0.1);
});

test('shapes of bodies', { timeout: 3_600_000 }, async () => await checkAll(bodyProbes, token, 0.1));

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
