/**
 * Compares two services on one PostgreSQL with one: answers per second, and CPU of everything per answer. The first
 * says something only where processors are free for the second service; the second says what sharing costs.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bench, usualSize } from '../bench.ts';
import { type Operation, operations } from '../load/checked_requests.ts';
import { type Loader, startLoader } from '../load/start_generator.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { cpuSeconds } from '../process_usage.ts';
import { type DataLocation, type Running, startService } from '../service.ts';
import type { World } from '../sites/seed_database.ts';

const measured: readonly Operation[] = ['list20', 'get', 'create'];
const connections = 16;

type Round = { perSecond: number; cpu: number };

/** A folder of its own for a second service: the secrets and markers are copied, the database is shared. */
const secondLocation = ({ data, ...shared }: DataLocation): DataLocation => {
  const copy = join(dirname(data), 'second', 'data');
  mkdirSync(dirname(copy));
  cpSync(data, copy, { recursive: true });
  return { ...shared, data: copy };
};

type Setting = { bench: Bench; world: World; loaders: readonly Loader[] };

const runRound = async (
  { bench, world, loaders }: Setting,
  operation: Operation,
  services: readonly Running[],
): Promise<Round> => {
  const roots = [...services.map(({ pid }) => pid), ...bench.databasePids];
  const before = cpuSeconds(roots);
  const outcomes = await Promise.all(
    services.map(async ({ port }, at) => {
      const job = { port, token: world.developer.token, requests: operations[operation](world) };
      const command = { kind: 'closed' as const, job, connections: connections / services.length };
      return await loaders[at]?.run({ ...command, seconds: bench.seconds });
    }),
  );
  const answered = outcomes.reduce((sum, outcome) => sum + (outcome?.answered ?? 0), 0);
  return { perSecond: answered / bench.seconds, cpu: (cpuSeconds(roots) - before) / answered };
};

/** Measures an operation in turn with one service and with both; returns the ratios of each round. */
const compare = async (
  setting: Setting,
  operation: Operation,
  services: readonly Running[],
): Promise<Figure[]> => {
  const { bench } = setting;
  const [faster, dearer]: [number[], number[]] = [[], []];
  await runRound(setting, operation, services);
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`${operation} on two services: round ${round} of ${bench.rounds}`);
    const one = await runRound(setting, operation, services.slice(0, 1));
    const two = await runRound(setting, operation, services);
    faster.push(two.perSecond / one.perSecond);
    dearer.push(two.cpu / one.cpu);
  }
  return [
    figure(`two services / one: ${operation}, answers`, 'times', faster),
    figure(`two services / one: ${operation}, CPU`, 'times', dearer, { goal: 1.5 }),
  ];
};

export const measureTwoServices = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('two_services')) return [];
  const { place: first, world } = await bench.databases.take(Math.min(usualSize, ...bench.sizes));
  // A file serves one process.
  if (first.database === undefined) return [];
  const second = secondLocation(first);
  const services = [await startService(first, { everyCore: true })];
  const other = startLoader();
  try {
    services.push(await startService(second, { everyCore: true }));
    const setting = { bench, world, loaders: [bench.loader, other] };
    const figures: Figure[] = [];
    for (const operation of measured) figures.push(...(await compare(setting, operation, services)));
    return figures;
  } finally {
    await other.stop();
    for (const service of services) await service.stop();
  }
};
