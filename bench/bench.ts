/** What every measurement is given. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Databases } from './sites/databases.ts';
import { type Figure, median } from './measured_figures.ts';
import { type Goals, goalsAt, referenceFloor } from './goals.ts';
import type { Outcome, CheckedRequest } from './load/load_job.ts';
import type { Loader } from './load/start_generator.ts';
import { cpuSeconds } from './process_usage.ts';
import { type Running, startFloor } from './service.ts';

export type Bench = {
  databases: Databases;
  loader: Loader;
  /** As they are on this machine. */
  goals: Goals;
  /** Number of rounds, seconds per round, and the data sizes that growth compares. */
  rounds: number;
  seconds: number;
  sizes: number[];
  /** Processes whose CPU time is added to that of the service: the database server. */
  databasePids: number[];
  progress: (text: string) => void;
  /** Folder of another checkout, built, whose paths are measured in the same rounds; null: none. */
  against: string | null;
  /** Whether a name was asked for. */
  wants: (name: string) => boolean;
};

export type Measure = (bench: Bench) => Promise<Figure[]>;

export const connections = 32;
export const usualSize = 100_000;

/** A running server and the requests that each round sends to it. */
export type MeasuredServer = {
  name: string;
  server: Running;
  token: string;
  requests: CheckedRequest[];
  databasePids?: number[];
  /** Connections, each with one request at a time; without it, many. */
  clients?: number;
};

export type Costs = Map<string, number[]>;

const oneRound = async (bench: Bench, asked: MeasuredServer, seconds: number): Promise<number> => {
  const { server, token, requests, clients = connections } = asked;
  const roots = [server.pid, ...(asked.databasePids ?? [])];
  const before = cpuSeconds(roots);
  const job = { port: server.port, token, requests };
  const outcome: Outcome = await bench.loader.run({ kind: 'closed', job, connections: clients, seconds });
  return ((cpuSeconds(roots) - before) / outcome.answered) * 1e6;
};

/** Milliseconds between two checks, and idle checks in a row: together longer than the delay of the search index. */
const [lookEvery, restingLooks] = [250, 16];

/** Resolves when the service has finished its background work. */
const untilAtRest = async ({ pid }: Running): Promise<void> => {
  for (let looks = 0; looks < restingLooks;) {
    const before = cpuSeconds([pid]);
    await wait(lookEvery);
    looks = cpuSeconds([pid]) - before > 0.01 ? 0 : looks + 1;
  }
};

/** Returns the servers with reads and writes: background work of writes would count for the reads of the next round. */
const mixedServers = (all: readonly MeasuredServer[]): Running[] => {
  const reads = (asked: MeasuredServer): boolean => asked.requests[0]?.method === 'GET';
  const read = new Set(all.filter(reads).map(({ server }) => server));
  return [...new Set(all.filter((asked) => !reads(asked)).map(({ server }) => server))].filter((server) =>
    read.has(server),
  );
};

/** Microseconds of CPU a request, of each in turn, round after round. */
export const measureCosts = async (bench: Bench, all: readonly MeasuredServer[]): Promise<Costs> => {
  const costs: Costs = new Map(all.map(({ name }) => [name, []]));
  for (const asked of all) {
    bench.progress(`${asked.name}: warming up`);
    await oneRound(bench, asked, 1);
  }
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const server of mixedServers(all)) await untilAtRest(server);
    for (const asked of all) {
      bench.progress(`${asked.name}: round ${round} of ${bench.rounds}`);
      costs.get(asked.name)?.push(await oneRound(bench, asked, bench.seconds));
    }
  }
  return costs;
};

export const medianOf = (costs: Costs, name: string): number => median(costs.get(name) ?? []);

export type Pace = { times: number; floor: number };

/** Compares the speed of this machine with that of the machine on which the goals were set. */
const measurePace = async (bench: Bench): Promise<Pace> => {
  const server = await startFloor({ '/': JSON.stringify({ text: 'x'.repeat(1_000) }) });
  try {
    const requests = [{ method: 'GET' as const, path: '/', status: 200 }];
    const costs = await measureCosts({ ...bench, rounds: 5 }, [
      { name: 'pace', server, token: 'none', requests },
    ]);
    const floor = medianOf(costs, 'pace');
    return { floor, times: floor / referenceFloor };
  } finally {
    await server.stop();
  }
};

/** The bench with the goals of this machine. */
export const calibrated = async (bench: Omit<Bench, 'goals'>): Promise<{ bench: Bench; pace: Pace }> => {
  const pace = await measurePace({ ...bench, goals: goalsAt(1) });
  return { pace, bench: { ...bench, goals: goalsAt(pace.times) } };
};
