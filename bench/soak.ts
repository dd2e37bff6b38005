/**
 * Whether the service, gitd and the built-in runner grow under a mixed load of fixed rate:
 *
 *   npm run soak                              an hour on SQLite
 *   npm run soak -- --minutes 60 --postgres   on PostgreSQL
 *   npm run soak -- --minutes 5 --rate 10      operations in a second (20 by default)
 *   npm run soak -- --minutes 5 --json         one JSON document with all samples in place of the table
 *
 * Samples are taken every ten seconds (`--every`); the slope is that of the second half, after the caches are warm. The
 * exit code is 1 if memory, handles or descriptors of a process grow by more than 1 (MB) in an hour (`--most`), beyond
 * the uncertainty of the slope, which is two standard errors. Caches still fill in a run of minutes: judge an hour.
 * Operations that would begin while 64 are in progress are skipped, and counted. Linux only.
 */
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/databases/postgres.ts';
import { percentile } from './measured_figures.ts';
import { type DataLocation, startService } from './service.ts';
import { type SoakSite, chooseOperation, operations, prepareSoak } from './soak/operations.ts';
import { type Sample, type Trend, isGrowing, takeSample, trendText, trendsOf } from './soak/samples.ts';

const mostInProgress = 64;

type Counts = { [operation: string]: { done: number; failed: number; milliseconds: number[] } };

/** Starts operations at a fixed rate until the end, whether or not earlier ones have finished. */
const load = async (site: SoakSite, rate: number, end: number) => {
  const counts: Counts = {};
  const inProgress = new Set<Promise<void>>();
  let skipped = 0;
  let lastError = '';
  const begin = async (name: string): Promise<void> => {
    const count = (counts[name] ??= { done: 0, failed: 0, milliseconds: [] });
    const began = performance.now();
    try {
      await operations[name]?.run(site);
      count.done += 1;
      count.milliseconds.push(performance.now() - began);
    } catch (error) {
      count.failed += 1;
      lastError = `${name}: ${String(error).slice(0, 500)}`;
    }
  };
  for (let next = performance.now(); next < end; next += 1000 / rate) {
    await wait(Math.max(0, next - performance.now()));
    if (inProgress.size >= mostInProgress) {
      skipped += 1;
      continue;
    }
    const one: Promise<void> = begin(chooseOperation(site.random())).finally(() => inProgress.delete(one));
    inProgress.add(one);
  }
  await Promise.all(inProgress);
  return { counts, skipped, lastError };
};

type Loaded = Awaited<ReturnType<typeof load>>;

const sample = async (folder: string, pid: number, every: number, end: number): Promise<Sample[]> => {
  const began = performance.now();
  const samples: Sample[] = [];
  while (performance.now() < end) {
    samples.push(takeSample(folder, pid, (performance.now() - began) / 1000));
    await wait(every * 1000);
  }
  return samples;
};

const operationText = ([name, { done, failed, milliseconds }]: [string, Counts[string]]): string => {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const [p50, p95] = sorted.length === 0 ? [0, 0] : [percentile(sorted, 0.5), percentile(sorted, 0.95)];
  return `${name.padEnd(20)} ${String(done).padStart(7)} done ${String(failed).padStart(5)} failed  p50 ${p50.toFixed(0)} ms  p95 ${p95.toFixed(0)} ms`;
};

type Findings = { samples: Sample[]; trends: Trend[]; growing: Trend[]; loaded: Loaded };

const report = ({ samples, trends, growing, loaded }: Findings, asJson: boolean): string => {
  const { counts, skipped, lastError } = loaded;
  if (asJson) {
    const done = Object.entries(counts).map(([operation, one]) => ({
      operation,
      ...one,
      milliseconds: undefined,
    }));
    return JSON.stringify({ trends, growing, operations: done, skipped, last_error: lastError, samples });
  }
  return [
    ...Object.entries(counts).map(operationText),
    `skipped ${skipped}${lastError === '' ? '' : `; last failure: ${lastError}`}`,
    '',
    ...trends.map(trendText),
    '',
    growing.length === 0
      ? 'nothing grows'
      : `grows: ${growing.map(({ role, figure }) => `${role} ${figure}`).join(', ')}`,
  ].join('\n');
};

const options = {
  minutes: { type: 'string', default: '60' },
  rate: { type: 'string', default: '20' },
  every: { type: 'string', default: '10' },
  most: { type: 'string', default: '1' },
  postgres: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

const soak = async (): Promise<void> => {
  const { values } = parseArgs({ options });
  const [minutes, rate, every] = [Number(values.minutes), Number(values.rate), Number(values.every)];
  const most = Number(values.most);
  if (!(minutes > 0 && rate > 0 && every > 0 && most > 0))
    throw new Error('--minutes, --rate, --every and --most are numbers above 0');
  const home = mkdtempSync(join(tmpdir(), 'gantry-soak-'));
  const [data, probes] = [join(home, 'data'), join(home, 'probes')];
  for (const folder of [data, probes]) mkdirSync(folder, { mode: 0o700 });
  const database = values.postgres ? await startPostgres() : null;
  const location: DataLocation = {
    data,
    ...(database !== null && { database: { url: database.url, schema: 'soak' } }),
  };
  const probe = pathToFileURL(join(import.meta.dirname, 'soak/probe.ts'));
  probe.searchParams.set('folder', probes);
  const environment = { GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_LOG_LEVEL: 'warn' };
  const server = await startService(location, { everyCore: true, preload: probe.href, environment });
  try {
    const site = await prepareSoak(server.port, home);
    const end = performance.now() + minutes * 60_000;
    const [samples, loaded] = await Promise.all([
      sample(probes, server.pid, every, end),
      load(site, rate, end),
    ]);
    const trends = trendsOf(samples);
    const growing = trends.filter((trend) => isGrowing(trend, most));
    process.stdout.write(`${report({ samples, trends, growing, loaded }, values.json)}\n`);
    if (growing.length > 0) process.exitCode = 1;
  } finally {
    await server.stop();
    await database?.stop();
    rmSync(home, { recursive: true, force: true });
  }
};

await soak();
