/** Jobs given to runners over HTTP, their logs and their ends; and the first of a long queue. */
import { join } from 'node:path';
import type { Bench } from '../../bench.ts';
import { api } from '../../sites/root_api.ts';
import { copyPipelines, makeCiProject, makeRunner, manyJobs } from '../../sites/ci_site.ts';
import { Connection } from '../../load/connection.ts';
import { type Figure, figure, shareFigure } from '../../measured_figures.ts';
import { cpuSeconds } from '../../process_usage.ts';
import { type RunnerClient, type Taken, appendPiece, endJob, openRunner } from '../../load/runner_client.ts';
import { type DataLocation, type Running, startFloor, startService } from '../../service.ts';

const pollers = 50;
const jobsOfPipeline = 50;
/** Jobs that are dispatched in one round. */
const dispatched = 1_000;
const running = 200;
const piece = 'x'.repeat(4_096);
const deep = 100_000;
/** Claims from the long queue in one round: enough for a stable 99th percentile. */
const claims = 500;
/** Claims before the measured ones: during the first claims, the compiler of V8 causes the longest waits. */
const warming = 10_000;

/** Microseconds of wall time and of CPU for one operation. */
type Cost = { wall: number; cpu: number };

const costOf = async (roots: number[], work: () => Promise<number>): Promise<Cost> => {
  const [began, before] = [performance.now(), cpuSeconds(roots)];
  const count = await work();
  const wall = ((performance.now() - began) * 1000) / count;
  return { wall, cpu: ((cpuSeconds(roots) - before) * 1e6) / count };
};

type Site = { bench: Bench; place: DataLocation; project: number; token: string; server: Running };

const rootsOf = ({ bench, server }: Site): number[] => [server.pid, ...bench.databasePids];

const prepare = async (bench: Bench): Promise<Omit<Site, 'server'>> => {
  const location = await bench.databases.empty();
  const server = await startService(location);
  try {
    const { id } = await makeCiProject(server.port, 'dispatched', manyJobs(jobsOfPipeline));
    await untilPending(server.port, id);
    return { bench, place: location, project: id, token: await makeRunner(server.port) };
  } finally {
    await server.stop();
  }
};

const untilPending = async (port: number, project: number): Promise<void> => {
  const path = `GET /projects/${project}/jobs?scope=pending&per_page=${jobsOfPipeline}`;
  while ((await api<unknown[]>(port, path)).length < jobsOfPipeline);
};

const openAll = async <T>(number: number, open: () => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: number }, open));

/** Clients take the remaining tasks one after another until none is left. */
const share = async <C>(clients: readonly C[], work: (client: C) => Promise<boolean>): Promise<void> => {
  await Promise.all(
    clients.map(async (client) => {
      while (await work(client));
    }),
  );
};

const claim = async (client: RunnerClient): Promise<Taken> => {
  const job = await client.poll();
  if (job === null) throw new Error('there was no job');
  return job;
};

const takeMany = async (clients: readonly RunnerClient[], number: number): Promise<Taken[]> => {
  const taken: Taken[] = [];
  let left = number;
  await share(clients, async (client) => {
    if (left <= 0) return false;
    left -= 1;
    taken.push(await claim(client));
    return true;
  });
  return taken;
};

const bareCost = async (bodyBytes: number, request: string): Promise<number> => {
  const floor = await startFloor({ '/': '{}', '/bare': JSON.stringify({ text: 'x'.repeat(bodyBytes) }) });
  const clients = await openAll(pollers, async () => await Connection.open(floor.port));
  let left = 5_000;
  const round = async (): Promise<number> => {
    left = 5_000;
    await share(clients, async (client) => {
      left -= 1;
      if (left >= 0) await client.send(request);
      return left > 0;
    });
    return 5_000;
  };
  try {
    await round();
    return (await costOf([floor.pid], round)).wall;
  } finally {
    for (const client of clients) client.close();
    await floor.stop();
  }
};

const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Returns the rate, which is easier to read, and the time of one operation, which has the goal. */
const costFigures = (name: string, costs: Cost[], wish: { goal?: number; floor?: number }): Figure[] => [
  figure(
    `${name}, in all`,
    '/s',
    costs.map(({ wall }) => 1e6 / wall),
  ),
  figure(
    name,
    'µs',
    costs.map(({ wall }) => wall),
    wish,
  ),
  figure(
    `${name}, CPU`,
    'µs',
    costs.map(({ cpu }) => cpu),
  ),
];

/** The goals that apply to SQLite only. */
const ofSqlite = ({ bench, place: location }: Site, name: 'ciTrace' | 'ciDeepQueue'): { goal?: number } =>
  location.database === undefined ? bench.goals[name] : {};

const endMany = async (clients: readonly RunnerClient[], jobs: readonly Taken[]): Promise<number> => {
  const left = [...jobs];
  await share(clients, async ({ connection }) => {
    const job = left.pop();
    if (job !== undefined) await endJob(connection, job);
    return job !== undefined;
  });
  return jobs.length;
};

/** Claims and ends jobs round by round, because the service fails a job whose runner is silent for a minute. */
const measureDispatch = async (site: Site): Promise<{ figures: Figure[]; kept: Taken[] }> => {
  const { bench, place: location, server, token } = site;
  const clients = await openAll(pollers, async () => await openRunner(server.port, token));
  const [taking, ending]: [Cost[], Cost[]] = [[], []];
  // The first pipeline warms up.
  await endMany(clients, await takeMany(clients, jobsOfPipeline));
  let taken: Taken[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`dispatch: round ${round} of ${bench.rounds}`);
    const take = async (): Promise<number> => (taken = await takeMany(clients, dispatched)).length;
    taking.push(await costOf(rootsOf(site), take));
    const jobs = taken.slice(running);
    ending.push(await costOf(rootsOf(site), async () => await endMany(clients, jobs)));
  }
  for (const client of clients) client.close();
  const floor = await bareCost(4_000, post('/bare', JSON.stringify({ info: 'x'.repeat(300) })));
  const { goal } = location.database === undefined ? bench.goals.ciDispatch : bench.goals.ciDispatchPostgres;
  const figures = [
    ...costFigures(`a job to one of ${pollers} runners`, taking, { goal, floor }),
    ...costFigures('a job to its end', ending, {}),
  ];
  return { figures, kept: taken.slice(0, running) };
};

const measureTraces = async (site: Site, jobs: readonly Taken[]): Promise<Figure[]> => {
  const { bench, server } = site;
  const writers = await Promise.all(
    jobs.map(async (job) => ({ job, size: 0, connection: await Connection.open(server.port) })),
  );
  const append = async (writer: (typeof writers)[number]): Promise<void> => {
    await appendPiece(writer.connection, writer.job, writer.size, piece);
    writer.size += piece.length;
  };
  await Promise.all(writers.map(append));
  const costs: Cost[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`logs: round ${round} of ${bench.rounds}`);
    const end = performance.now() + bench.seconds * 1000;
    const work = async (): Promise<number> => {
      let pieces = 0;
      await share(writers, async (writer) => {
        await append(writer);
        pieces += 1;
        return performance.now() < end;
      });
      return pieces;
    };
    costs.push(await costOf(rootsOf(site), work));
  }
  for (const { connection } of writers) connection.close();
  const floor = await bareCost(2, post('/small', piece));
  return costFigures(`4 KB of a log, ${running} jobs`, costs, { ...ofSqlite(site, 'ciTrace'), floor });
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const asked = performance.now();
  await work();
  return performance.now() - asked;
};

/** The worst time of the disk and the machine alone: the same client calls a bare server that stores as many bytes. */
const keptWaits = async (data: string): Promise<number[]> => {
  const floor = await startFloor({ '/': '{}' }, join(data, 'floor.db'));
  const connection = await Connection.open(floor.port);
  const request = post('/kept', JSON.stringify({ info: 'x'.repeat(300) }));
  const waits: number[] = [];
  for (let at = 0; at < claims; at += 1) waits.push(await timed(async () => await connection.send(request)));
  connection.close();
  await floor.stop();
  return waits;
};

const measureDeep = async (site: Site): Promise<Figure[]> => {
  const { bench, place: location, server, token } = site;
  const client = await openRunner(server.port, token);
  const [waits, bare]: [number[][], number[][]] = [[], []];
  bench.progress(`queue of ${deep}: first request`);
  const first = await timed(client.poll);
  await takeMany([client], warming);
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`queue of ${deep}: round ${round} of ${bench.rounds}`);
    const some: number[] = [];
    for (let at = 0; at < claims; at += 1) some.push(await timed(async () => await claim(client)));
    waits.push(some);
    bare.push(await keptWaits(location.data));
  }
  client.close();
  const name = `claim of a job, ${deep} pending`;
  const floorOf = (share: number): number => shareFigure('', bare, share).value;
  return [
    figure(`first claim, ${deep} pending`, 'ms', [first]),
    shareFigure(name, waits, 0.5, { floor: floorOf(0.5) }),
    shareFigure(name, waits, 0.95, { floor: floorOf(0.95) }),
    shareFigure(name, waits, 0.99, { ...ofSqlite(site, 'ciDeepQueue'), floor: floorOf(0.99) }),
  ];
};

const withService = async (
  site: Omit<Site, 'server'>,
  measure: (site: Site) => Promise<Figure[]>,
): Promise<Figure[]> => {
  const server = await startService(site.place);
  try {
    return await measure({ ...site, server });
  } finally {
    await server.stop();
  }
};

export const measureCiDispatch = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('ci_dispatch')) return [];
  const prepared = await prepare(bench);
  const copy = async (jobs: number): Promise<void> =>
    await copyPipelines(bench, prepared.place, prepared.project, jobs / jobsOfPipeline);
  await copy(dispatched * bench.rounds);
  const figures = await withService(prepared, async (site) => {
    const { figures, kept } = await measureDispatch(site);
    return [...figures, ...(await measureTraces(site, kept))];
  });
  await copy(deep + warming);
  return [...figures, ...(await withService(prepared, measureDeep))];
};
