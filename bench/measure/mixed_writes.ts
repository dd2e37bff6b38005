/** Measures many clients that write into one project at once: none may fail, and none may wait far longer than others. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type Answer, prepareSite, writeMixed } from '../../test/support/mixed_writes.ts';
import type { Bench } from '../bench.ts';
import { type Figure, figure, percentile } from '../measured_figures.ts';
import { type DataLocation, rootToken, startService } from '../service.ts';

const clients = 40;
const thorough = 300;
const quick = 20;
/** Part of the time that is left out: clients that start at once are in step, as clients of a running service are not. */
const warmUp = 0.2;
/** PostgreSQL publishes the counts of a session when it becomes idle, or after a second. */
const statisticsDelay = 2_000;

const deadlocksIn = async ({ database }: DataLocation): Promise<number> => {
  if (database === undefined) return 0;
  await wait(statisticsDelay);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const query = 'select deadlocks from pg_stat_database where datname = current_database()';
  const { rows } = await client.query<{ deadlocks: string }>(query);
  await client.end();
  return Number(rows[0]?.deadlocks);
};

const figuresOf = (answers: readonly Answer[], seconds: number, deadlocks: number): Figure[] => {
  const kinds = [...new Set(answers.map(({ kind }) => kind))].toSorted();
  const share = (kind: string, part: number): number =>
    percentile(
      answers
        .filter((answer) => answer.kind === kind)
        .map(({ milliseconds }) => milliseconds)
        .toSorted((a, b) => a - b),
      part,
    );
  const failed = answers.filter(({ status }) => status >= 500);
  return [
    figure('mixed writes: deadlocks', 'times', [deadlocks], { goal: 0 }),
    figure('mixed writes: answers of 5xx', 'times', [failed.length], { goal: 0 }),
    figure('mixed writes: answers', '/s', [answers.length / seconds]),
    ...kinds.flatMap((kind) => {
      const [usual, longest] = [share(kind, 0.5), share(kind, 0.99)];
      return [
        figure(`mixed writes: ${kind}, p50`, 'ms', [usual]),
        figure(`mixed writes: ${kind}, p99 / p50`, 'times', [longest / usual], { goal: 10 }),
      ];
    }),
  ];
};

export const measureMixedWrites = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('mixed')) return [];
  const seconds = bench.rounds > 3 ? thorough : quick;
  const location = await bench.databases.empty();
  const service = await startService(location, { everyCore: true });
  try {
    const site = await prepareSite(`http://127.0.0.1:${service.port}`, rootToken);
    bench.progress(`mixed writes of ${clients} clients for ${seconds} s`);
    const start = performance.now() + seconds * warmUp * 1000;
    const end = start + seconds * 1000;
    const answers = await writeMixed(site, clients, () => performance.now() > end);
    const measured = answers.filter(({ began }) => began >= start);
    return figuresOf(measured, seconds, await deadlocksIn(location));
  } finally {
    await service.stop();
  }
};
