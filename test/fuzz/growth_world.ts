/** A service that is asked with fragments repeated n and 2n times, and what the processor time of each may be. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import fc from 'fast-check';
import { deriveCsrfToken, sessionCookie } from '../../src/core/access/credentials/session_token.ts';
import { isWhole, oneOfSoMany, seed } from '../support/run/sample.ts';
import { type TestService, engine, rootToken, startTestService } from '../support/service.ts';
import { openVisitor } from '../support/visitor.ts';
import { costFor, floor, growsTwice, leastCost, watchOwn, watchTree } from './cpu.ts';
import type { Probe } from './fragments.ts';
import type { Place } from './path_params.ts';
import { longestBody } from './repeated_bodies.ts';
import { type Send, makeSender } from './send.ts';
import { seedWorld, settleWithoutHooks } from './world.ts';

const sampled = 150;

/** In a whole run, PostgreSQL gets one probe in so many: what reads parameters is the same on both engines. */
const shareOnPostgres = 8;

type Slow = { name: string; length: number; costs: number[] };

/** Code is read by gitd and git, whose processes cost more than a growth from nothing tells. */
const asksGit = (name: string): boolean =>
  /\/repository\/|-\/(?:blob|blame|commits?|compare|tree|raw)|action/.test(name);
const floorOfGit = 80;

/** Suspects are measured again before they count: at twice the length if accepted, else at the same length. */
const check = async (
  send: Send,
  { name, longest, of }: Probe,
  own: Record<string, string>,
): Promise<Slow | null> => {
  const [watch, least] = asksGit(name) ? [watchTree, floorOfGit] : [watchOwn, floor];
  if ((await costFor(async () => await send(of(longest), own), watch)) < least) return null;
  const cost = async (length: number): Promise<number> =>
    await leastCost(async () => await send(of(length), own), watch);
  const canDouble = longest >= 32 * 1024 && longest <= longestBody / 2;
  const costs = await growsTwice({ cost, length: longest, least }, canDouble ? longest * 2 : longest);
  return costs === null ? null : { name, length: longest, costs };
};

const choose = (probes: Probe[], share: number): Probe[] => {
  if (!isWhole) return fc.sample(fc.constantFrom(...probes), { numRuns: Math.ceil(sampled * share), seed });
  return engine === 'sqlite' ? probes : oneOfSoMany(probes, shareOnPostgres, ({ name }) => name);
};

const signInBrowser = async (gantry: TestService): Promise<Record<string, string>> => {
  const { status } = await gantry.api('PUT /users/1', { json: { password: 'correct horse battery' } });
  assert.equal(status, 200);
  const visitor = openVisitor(gantry);
  await visitor.signIn('root', 'correct horse battery');
  return {
    accept: 'text/html',
    cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    'x-csrf-token': deriveCsrfToken(visitor.cookies.get(sessionCookie) ?? ''),
  };
};

/** Headers of the callers. */
export const token = { 'private-token': rootToken };

export type GrowthWorld = {
  /** Headers of a browser that is signed in. */
  browser: Record<string, string>;
  places: Place[];
  /** Fails where the time grows too much, or the service logs something. @param share of a usual sample */
  checkAll: (probes: Probe[], own: Record<string, string>, share?: number) => Promise<void>;
};

const open = async (): Promise<GrowthWorld & { close: () => Promise<void> }> => {
  const gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn', GANTRY_SLOW_STATEMENT: '0' });
  const sender = makeSender(gantry.url);
  const { places } = await seedWorld(gantry);
  const checkAll: GrowthWorld['checkAll'] = async (probes, own, share = 1) => {
    const slow: Slow[] = [];
    for (const probe of choose(probes, share)) {
      const found = await check(sender.send, probe, own);
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
  const close = async (): Promise<void> => {
    sender.close();
    await gantry.close();
  };
  return { browser: await signInBrowser(gantry), places, checkAll, close };
};

/** Returns a function that starts the service of a test file when it is first called. */
export const openGrowthWorld = (): (() => Promise<GrowthWorld>) => {
  let world: ReturnType<typeof open> | undefined;
  after(async () => await (await world)?.close());
  return async () => await (world ??= open());
};
