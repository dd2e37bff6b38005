/** Measures the cost of a thousand waiting runners, and the time until one of them receives a new job. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { api } from '../../sites/root_api.ts';
import type { Bench } from '../../bench.ts';
import { makeCiProject, makeRunner, manyJobs } from '../../sites/ci_site.ts';
import { type Figure, figure, shareFigure } from '../../measured_figures.ts';
import { cpuSeconds, memoryOf } from '../../process_usage.ts';
import { type RunnerClient, openRunner } from '../../load/runner_client.ts';
import { type DataLocation, type Running, startService } from '../../service.ts';

const idle = 1_000;
/** Jobs of one round. */
const jobs = 30;
/** Milliseconds until freed memory is returned to the system, and during which statements are counted. */
const rest = 3_000;
const counted = 5_000;

const statementsFile = ({ data }: DataLocation): string => join(data, '..', 'statements');

/** Statements so far; on PostgreSQL transactions, which count single statements, too. */
const statements = async (location: DataLocation, { pid }: Running): Promise<number> => {
  if (location.database !== undefined) {
    const client = new pg.Client({ connectionString: location.database.url });
    await client.connect();
    const { rows } = await client.query<{ number: string }>(
      'select xact_commit + xact_rollback as number from pg_stat_database where datname = current_database()',
    );
    await client.end();
    return Number(rows[0]?.number);
  }
  const file = statementsFile(location);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR1');
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(10);
  return Number(readFileSync(file, 'utf8'));
};

type Waiting = { end: () => void };

/** Runners that poll for jobs, none of which they can take. */
const waitIdle = async (port: number): Promise<Waiting> => {
  const tokens: string[] = [];
  for (let at = 0; at < idle; at += 1)
    tokens.push(await makeRunner(port, { run_untagged: false, tag_list: ['idle'] }));
  // Only after all are created: an idle connection is closed after ten seconds.
  const clients: RunnerClient[] = [];
  for (const token of tokens) clients.push(await openRunner(port, token));
  let isOver = false;
  await Promise.all(clients.map(async (client) => await client.poll()));
  const ask = async (client: RunnerClient): Promise<void> => {
    while (!isOver) await client.poll();
  };
  for (const client of clients) void ask(client).catch(() => undefined); // closed while it waits
  return {
    end: () => {
      isOver = true;
      for (const client of clients) client.close();
    },
  };
};

/** The cost of an idle service: MB, and statements and milliseconds of CPU per second. */
type Resting = { memory: number; statements: number; cpu: number };

const measureResting = async (location: DataLocation, server: Running): Promise<Resting> => {
  await pause(rest);
  const memory = memoryOf(server.pid, false).rss;
  const [first, cpu] = [await statements(location, server), cpuSeconds([server.pid])];
  await pause(counted);
  const used = (cpuSeconds([server.pid]) - cpu) * 1000;
  const number = (await statements(location, server)) - first;
  return { memory, statements: number / (counted / 1000), cpu: used / (counted / 1000) };
};

/** The cost that the runners add to an idle service. */
const figuresOfRest = ({ goals }: Bench, before: Resting, after: Resting): Figure[] => {
  const more = (of: keyof Resting): number[] => [Math.max(0, after[of] - before[of])];
  return [
    figure(`${idle} runners wait, memory`, 'MB', more('memory'), goals.memoryWaitingRunners),
    figure(`${idle} runners wait, statements`, '/s', more('statements'), goals.ciIdleStatements),
    figure('nobody waits, statements', '/s', [before.statements]),
    figure(`${idle} runners wait, CPU of a second`, 'ms', more('cpu')),
  ];
};

type Waits = { sent: number; answered: number };

const playOne = async (port: number, project: number, job: number, client: RunnerClient): Promise<Waits> => {
  const taken = client.poll().then((one) => ({ one, at: performance.now() }));
  await pause(10); // it waits
  const sent = performance.now();
  await api(port, `POST /projects/${project}/jobs/${job}/play`);
  const answered = performance.now();
  const { one, at } = await taken;
  if (one?.id !== job) throw new Error('another job came');
  return { sent: at - sent, answered: Math.max(0, at - answered) };
};

const measureArrival = async (bench: Bench, port: number, project: number): Promise<Figure[]> => {
  const client = await openRunner(port, await makeRunner(port));
  await client.poll();
  const rounds: Waits[][] = [];
  for (let round = 0; round <= bench.rounds; round += 1) {
    bench.progress(`a job for who waits: round ${round} of ${bench.rounds}`);
    const { id } = await api<{ id: number }>(port, `POST /projects/${project}/pipeline`, { ref: 'main' });
    const list = `GET /projects/${project}/pipelines/${id}/jobs?per_page=${jobs}`;
    const some: Waits[] = [];
    for (const job of await api<{ id: number }[]>(port, list))
      some.push(await playOne(port, project, job.id, client));
    if (round > 0) rounds.push(some); // the first warms up
  }
  client.close();
  const since = rounds.map((some) => some.map(({ answered }) => answered));
  const name = `job plays -> 201 of who waits, ${idle} idle`;
  return [
    shareFigure(name, since, 0.5, bench.goals.ciArrival),
    shareFigure(name, since, 0.99, bench.goals.ciArrivalLate),
    shareFigure(
      `${name}, since it was asked to play`,
      rounds.map((some) => some.map(({ sent }) => sent)),
      0.5,
    ),
  ];
};

export const measureCiWaiting = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('ci_waiting')) return [];
  const location = await bench.databases.empty();
  const counts = location.database === undefined ? { statements: statementsFile(location) } : {};
  const server = await startService(location, counts);
  try {
    const { id } = await makeCiProject(server.port, 'waiting', manyJobs(jobs, '  when: manual\n'));
    // Exclude the code that the first request of a runner loads.
    const first = await openRunner(server.port, await makeRunner(server.port));
    await first.poll();
    first.close();
    bench.progress('nobody waits');
    const before = await measureResting(location, server);
    const waiting = await waitIdle(server.port);
    bench.progress(`${idle} runners wait`);
    const figures = figuresOfRest(bench, before, await measureResting(location, server));
    figures.push(...(await measureArrival(bench, server.port, id)));
    waiting.end();
    return figures;
  } finally {
    await server.stop();
  }
};
