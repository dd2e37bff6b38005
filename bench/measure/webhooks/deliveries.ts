/** Measures webhooks: costs of deliveries and of writes without a hook, delays, and reads during many deliveries. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import type { Bench } from '../../bench.ts';
import { type Figure, figure, median } from '../../measured_figures.ts';
import { cpuSeconds, pinned } from '../../process_usage.ts';
import { type Running, rootToken, startService } from '../../service.ts';
import { api } from '../../sites/root_api.ts';

/** Issues of one round; without a hook, more: their difference is small compared with a tick of the kernel's clock. */
const writes = 200;
const plainWrites = 2_000;
const pushes = 20;
/** Deliveries a second: 5,000 a minute. */
const rate = 5_000 / 60;
const hooksOfBusy = 10;
/** Pending deliveries. */
const queued = 10_000;
/** Reads per second during the deliveries. */
const reads = 50;

type Site = { server: Running; receiver: HookReceiver };

const makeProject = async ({ server }: Site, name: string): Promise<number> =>
  (await api<{ id: number }>(server.port, 'POST /projects', { name })).id;

const addHook = async (
  { server, receiver }: Site,
  project: number,
  flag: string,
  path = '',
): Promise<void> => {
  const json = { url: `${receiver.url}/${path}`, push_events: false, [flag]: true };
  await api(server.port, `POST /projects/${project}/hooks`, json);
};

const addIssues = async ({ server }: Site, project: number, count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1)
    await api(server.port, `POST /projects/${project}/issues`, {
      title: `Issue ${at}`,
      description: 'x'.repeat(500),
    });
};

const untilReceived = async (received: readonly unknown[], count: number): Promise<void> => {
  while (received.length < count) await pause(10);
};

/** µs of CPU of the service for a write, until all of its deliveries are received. */
const costOf = async (
  site: Site,
  project: number,
  { count, deliveries }: { count: number; deliveries: number },
): Promise<number> => {
  const { server, receiver } = site;
  receiver.clear();
  const before = cpuSeconds([server.pid]);
  await addIssues(site, project, count);
  await untilReceived(receiver.received, deliveries);
  return ((cpuSeconds([server.pid]) - before) / count) * 1e6;
};

/** µs of CPU of a bare `fetch` that posts as much. */
const costOfFetch = async ({ receiver }: Site): Promise<number> => {
  const file = join(import.meta.dirname, 'bare_fetch.ts');
  const [program, args] = pinned(0, process.execPath, [file, receiver.url, String(writes)]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  await once(child, 'exit');
  return Number(text);
};

/** @param other a service with the same data that never had a hook */
const measureBothCosts = async (bench: Bench, site: Site, other: Site): Promise<Figure[]> => {
  const [plain, hooked] = [await makeProject(site, 'plain'), await makeProject(site, 'hooked')];
  const [otherPlain, otherHooked] = [await makeProject(other, 'plain'), await makeProject(other, 'hooked')];
  await addHook(site, hooked, 'issues_events');
  const [none, unhooked, delivered, bare]: number[][] = [[], [], [], []];
  const alone = { count: plainWrites, deliveries: 0 };
  const withHook = { count: writes, deliveries: writes };
  const withoutHook = { count: writes, deliveries: 0 };
  await costOf(site, hooked, withHook); // warm
  await costOf(other, otherHooked, withoutHook);
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`webhooks, round ${round} of ${bench.rounds}`);
    none?.push(await costOf(other, otherPlain, alone));
    const without = await costOf(site, plain, alone);
    unhooked?.push(without);
    delivered?.push((await costOf(site, hooked, withHook)) - without);
    await costOf(other, otherHooked, withoutHook);
    bare?.push(await costOfFetch(site));
  }
  const floor = median(bare ?? []);
  const beyond = (delivered ?? []).map((cost) => cost - floor);
  const added = (unhooked ?? []).map((cost, at) => cost - (none?.[at] ?? NaN));
  return [
    figure('webhooks: a delivery', 'µs', delivered ?? [], { floor }),
    figure('webhooks: a delivery, beyond a bare fetch', 'µs', beyond, bench.goals.webhookDelivery),
    figure('webhooks: added to a write without a hook', 'µs', added, bench.goals.webhookAdded),
  ];
};

const measureCost = async (bench: Bench, site: Site): Promise<Figure[]> => {
  const other = { ...site, server: await startService(await bench.databases.empty()) };
  try {
    return await measureBothCosts(bench, site, other);
  } finally {
    await other.server.stop();
  }
};

/** Milliseconds from a commit's request, and from its answer, to the first byte of its delivery. */
const timeDelivery = async (
  { server, receiver }: Site,
  project: number,
  at: number,
): Promise<{ asked: number; answered: number }> => {
  receiver.clear();
  const first = Promise.withResolvers<number>();
  receiver.answer((_request, response) => {
    first.resolve(performance.now());
    response.end();
  });
  const actions = [{ action: 'create', file_path: `${at}.txt`, content: 'x' }];
  const json = { branch: 'main', commit_message: 'x', actions };
  const begun = performance.now();
  await api(server.port, `POST /projects/${project}/repository/commits`, json);
  const answered = performance.now();
  const received = await first.promise;
  return { asked: received - begun, answered: Math.max(0, received - answered) };
};

const measureFirstByte = async (bench: Bench, site: Site): Promise<Figure[]> => {
  const project = await makeProject(site, 'pushed');
  await addHook(site, project, 'push_events');
  const waits: { asked: number; answered: number }[] = [];
  for (let at = 0; at < pushes; at += 1) waits.push(await timeDelivery(site, project, at));
  const p50 = (name: 'asked' | 'answered'): number[] => [median(waits.map((wait) => wait[name]))];
  return [
    figure('webhooks: from the request of a commit to the first byte, p50', 'ms', p50('asked')),
    figure(
      'webhooks: from its answer to the first byte, p50',
      'ms',
      p50('answered'),
      bench.goals.webhookFirstByte,
    ),
  ];
};

/** Milliseconds that 99 % of the reads take at most. */
const readLatency = async (
  bench: Bench,
  { server }: Site,
  project: number,
  seconds: number,
): Promise<number> => {
  const requests = [{ method: 'GET' as const, path: `/api/v4/projects/${project}`, status: 200 }];
  const job = { port: server.port, token: rootToken, requests };
  const { latencies } = await bench.loader.run({ kind: 'open', job, rate: reads, seconds });
  return latencies[Math.ceil(latencies.length * 0.99) - 1] ?? NaN;
};

const measureBusy = async (bench: Bench, site: Site): Promise<Figure[]> => {
  const { receiver } = site;
  const seconds = bench.rounds > 3 ? 60 : 15;
  const project = await makeProject(site, 'busy');
  for (let at = 0; at < hooksOfBusy; at += 1) await addHook(site, project, 'issues_events', String(at));
  const quiet = await readLatency(bench, site, project, seconds);
  receiver.clear();
  const reading = readLatency(bench, site, project, seconds);
  const wanted = Math.round((rate * seconds) / hooksOfBusy);
  const begun = performance.now();
  for (let at = 0; at < wanted; at += 1) {
    const due = begun + (at * hooksOfBusy * 1_000) / rate;
    await pause(Math.max(0, due - performance.now()));
    await addIssues(site, project, 1);
  }
  const busy = await reading;
  await untilReceived(receiver.received, wanted * hooksOfBusy);
  const taken = (performance.now() - begun) / 1_000;
  return [
    figure('webhooks: deliveries, of 83 a second', '/s', [receiver.received.length / taken]),
    figure('webhooks: 5,000 deliveries a minute, times that time', 'times', [taken / seconds], {
      goal: 1.05,
    }),
    figure('webhooks: reads during them, p99', 'ms', [busy], { floor: quiet }),
    figure('webhooks: the same, times without them', 'times', [busy / quiet], { goal: 1.2 }),
  ];
};

/** Reads while so many deliveries wait for a receiver that fails. */
const measureQueued = async (bench: Bench, site: Site): Promise<Figure[]> => {
  const { receiver } = site;
  const seconds = bench.rounds > 3 ? 30 : 10;
  const project = await makeProject(site, 'queued');
  for (let at = 0; at < hooksOfBusy; at += 1) await addHook(site, project, 'issues_events', String(at));
  const quiet = await readLatency(bench, site, project, seconds);
  receiver.answer((_request, response) => response.writeHead(500).end());
  await addIssues(site, project, queued / hooksOfBusy);
  const loaded = await readLatency(bench, site, project, seconds);
  return [
    figure('webhooks: reads during 10,000 queued, p99', 'ms', [loaded], { floor: quiet }),
    figure('webhooks: the same, times without them', 'times', [loaded / quiet], { goal: 1.2 }),
  ];
};

export const measureWebhooks = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('webhooks')) return [];
  const place = await bench.databases.empty();
  const [server, receiver] = await Promise.all([startService(place), startHookReceiver()]);
  const site = { server, receiver };
  try {
    await api(server.port, 'PUT /application/settings', {
      allow_local_requests_from_hooks_and_services: true,
    });
    return [
      ...(await measureCost(bench, site)),
      ...(await measureFirstByte(bench, site)),
      ...(await measureBusy(bench, site)),
      ...(await measureQueued(bench, site)),
    ];
  } finally {
    await server.stop();
    await receiver.close();
  }
};
