/**
 * What is parsed before anybody is authenticated: at its largest size, it costs at most 20 ms of CPU, or is refused
 * earlier. A seeded sample runs each time, all of it where `GANTRY_TEST_ALL` is set.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { endpoints } from '../../src/app/routes.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { seedProject } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { costWithin, measureSlowness } from './cpu.ts';
import { type Probe, unauthenticatedProbesOf } from './fragments.ts';
import { headerProbes, targetProbes } from './header_probes.ts';
import { fileDoorsOf, fileNameProbes } from './file_names.ts';
import { gitProbes } from './git_probes.ts';
import { bodyProbes, formProbes, longestBody } from './repeated_bodies.ts';
import { type Sent, makeSender } from './send.ts';
import { type SshProbe, proxyProbes, sshProbes } from './ssh_probes.ts';

/** Milliseconds of CPU. */
const mostMilliseconds = 20;

let gantry: TestService;
let sender: ReturnType<typeof makeSender>;
let most: number;
let oid: string;

before(async () => {
  gantry = await startTestService({
    GANTRY_LOG_LEVEL: 'warn',
    GANTRY_SLOW_STATEMENT: '0',
    GANTRY_SSH_LISTEN: '127.0.0.1:0',
    // So that the forwarding headers are read.
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
  });
  const { id } = await seedProject(gantry, { path: 'first', visibility: 'public' });
  oid = await seedCommit(gantry, id, { 'README.md': 'Read me\n' });
  sender = makeSender(gantry.url);
  most = mostMilliseconds * (await measureSlowness());
});
after(async () => {
  sender.close();
  await gantry.close();
});

const draw = <T>(all: readonly T[], count: number): readonly T[] =>
  isWhole ? all : fc.sample(fc.constantFrom(...all), { numRuns: Math.min(count, all.length), seed });

/** Fails if one costs more than the limit, beside what its transport costs. */
const checkAll = async (probes: readonly Probe[], transport: (sent: Sent) => Promise<number>) => {
  const dear: [name: string, cost: number, limit: number][] = [];
  for (const probe of probes) {
    const sent = probe.of(probe.longest);
    const send = async (): Promise<number> => await sender.send(sent);
    const limit = most + (await transport(sent));
    if ((await costWithin(limit, send)) <= limit) continue;
    // The machine may have become slower since the start.
    const now = mostMilliseconds * (await measureSlowness()) + (await transport(sent));
    const cost = await costWithin(now, send);
    if (cost > now) dear.push([probe.name, cost, now]);
  }
  assert.deepEqual(dear, [], `seed ${seed}`);
};

const nothing = async (): Promise<number> => await Promise.resolve(0);

/** Costs of bodies that are read and not parsed, by door. */
const transports = new Map<string, number>();
const ofBody = async ({ method, url }: Sent): Promise<number> => {
  const cost =
    transports.get(url) ??
    (await costWithin(0, async () => {
      await sender.send({ method, url, type: 'text/plain', body: 'a'.repeat(longestBody) });
    }));
  transports.set(url, cost);
  return cost;
};

test('headers', { timeout: 3_600_000 }, async () => await checkAll(draw(headerProbes, 200), nothing));
test('targets', { timeout: 3_600_000 }, async () => await checkAll(draw(targetProbes, 60), nothing));
test('bodies', { timeout: 3_600_000 }, async () => await checkAll(draw(bodyProbes, 40), ofBody));
test('names of files', { timeout: 3_600_000 }, async () => {
  await checkAll(draw(fileNameProbes(fileDoorsOf(endpoints, [], seed)), 40), ofBody);
});

const withoutAuthorization = (probe: Probe): Probe => ({
  ...probe,
  of: (length) => {
    const { headers: { authorization: _authorization, ...headers } = {}, ...sent } = probe.of(length);
    return { ...sent, headers };
  },
});

test('requests of git', { timeout: 3_600_000 }, async () => {
  await checkAll(draw(gitProbes(oid).map(withoutAuthorization), 20), nothing);
});

/** Endpoints and forms that authenticate by what is in the body. */
const open = async (): Promise<Probe[]> => {
  const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
  const isOpen = ({ method, audience }: { method: string; audience: string }): boolean =>
    audience === 'anyone' && method !== 'GET';
  const ofApi = (endpoints as unknown as AnyEndpoint<never>[]).filter(isOpen);
  const ofPages = [...new Set(loaded.flat())].filter(isOpen);
  assert.ok(ofApi.length > 10 && ofPages.length > 5, `${ofApi.length}, ${ofPages.length}`);
  return [
    ...ofApi.flatMap((endpoint) => unauthenticatedProbesOf(endpoint)),
    ...ofPages.flatMap((page) => unauthenticatedProbesOf(page as never, '')),
    ...formProbes,
  ];
};

test('tokens, passwords and other parameters in bodies', { timeout: 3_600_000 }, async () => {
  await checkAll(draw(await open(), 40), ofBody);
});

const checkConversations = async (probes: readonly SshProbe[], port: number): Promise<void> => {
  const dear: [name: string, cost: number][] = [];
  for (const { name, talk } of draw(probes, 20)) {
    const cost = await costWithin(most, async () => await talk(port));
    if (cost > most) dear.push([name, cost]);
  }
  assert.deepEqual(dear, [], `seed ${seed}`);
};

test('SSH', { timeout: 3_600_000 }, async () => {
  await checkConversations(sshProbes, gantry.service.ssh ?? 0);
});

test('SSH behind a proxy', { timeout: 3_600_000 }, async () => {
  const proxied = await startTestService({
    GANTRY_SSH_LISTEN: '127.0.0.1:0',
    GANTRY_SSH_PROXY_PROTOCOL: 'true',
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
  });
  try {
    await checkConversations(proxyProbes, proxied.service.ssh ?? 0);
  } finally {
    await proxied.close();
  }
});
