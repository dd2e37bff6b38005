/**
 * Implements `npm run bench`: measures the real service on generated data and compares the figures with their goals.
 *
 *   npm run bench                             everything (1,000, 100,000 and 1,000,000 issues)
 *   npm run bench -- --quick                  fewer and shorter rounds, no million
 *   npm run bench -- --only list,get          list20 list100 get create edit latency growth filters labels search
 *                                             requests memory start pages live git transport mixed profile two_services
 *                                             (on PostgreSQL) webhooks ci (ci_dispatch ci_waiting ci_pipelines
 *                                             ci_artifacts ci_runner)
 *   npm run bench -- --only paths             every path that clients use most, with pages, start and memory
 *   npm run bench -- --only paths --against FOLDER
 *                                             the same rounds for the service of another checkout, built with
 *                                             `npm run build`, and the ratio of each path
 *   npm run bench -- --postgres               on PostgreSQL; its processes count with the service's
 *   npm run bench -- --json                   one JSON document in place of the table
 *
 * CPU is user and system time of the service's processes, divided by answered requests: unlike wall time, it stays the
 * same on a busy machine. Goals for time were set on one machine; on another one they are multiplied by how much longer
 * a bare `node:http` server takes for an answer there. Every answer is checked. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Postgres, startPostgres } from '../test/support/databases/postgres.ts';
import { type Bench, type Measure, type Pace, calibrated } from './bench.ts';
import { type Databases, makeDatabases } from './sites/databases.ts';
import type { Figure } from './measured_figures.ts';
import { startLoader } from './load/start_generator.ts';
import { measureCiArtifacts } from './measure/ci/artifacts.ts';
import { measureCiDispatch } from './measure/ci/dispatch.ts';
import { measureCiPipelines } from './measure/ci/pipelines.ts';
import { measureCiRunner } from './measure/ci/runner.ts';
import { measureCiWaiting } from './measure/ci/waiting.ts';
import { measureReads, measureWrites } from './measure/cpu_per_request.ts';
import { measureFilters } from './measure/filters.ts';
import { measureLabels } from './measure/label_lists.ts';
import { measureGrowth } from './measure/data_growth.ts';
import { measureGitCalls } from './measure/git/calls.ts';
import { measureGitTransport } from './measure/git/transport.ts';
import { measureLiveComments } from './measure/live_comments.ts';
import { measureLatency } from './measure/latency.ts';
import { measureMemory } from './measure/memory.ts';
import { measureMixedWrites } from './measure/mixed_writes.ts';
import { measureMergeRequests } from './measure/merge_requests.ts';
import { measureLargeFolder } from './measure/large_folder.ts';
import { measurePages } from './measure/pages.ts';
import { measurePlanningPages } from './measure/planning_pages.ts';
import { measurePaths } from './measure/paths.ts';
import { measureProfile } from './measure/profile.ts';
import { measureCodeSearch } from './measure/code_search.ts';
import { measureSearch } from './measure/search.ts';
import { measureStart } from './measure/startup_time.ts';
import { measureTwoServices } from './measure/two_services.ts';
import { measureWebhooks } from './measure/webhooks/deliveries.ts';
import { isPinned, pressure, treeOf } from './process_usage.ts';
import { table } from './format_table.ts';

const names = [
  'paths',
  'list20',
  'list100',
  'get',
  'create',
  'edit',
  'profile',
  'latency',
  'growth',
  'filters',
  'labels',
  'search',
  'requests',
  'memory',
  'start',
  'pages',
  'live',
  'git',
  'transport',
  'mixed',
  'two_services',
  'webhooks',
  'ci_dispatch',
  'ci_waiting',
  'ci_pipelines',
  'ci_artifacts',
  'ci_runner',
];
const measures: Measure[] = [
  measurePaths,
  measureReads,
  measureWrites,
  measureProfile,
  measureLatency,
  measureGrowth,
  measureFilters,
  measureLabels,
  measureSearch,
  measureCodeSearch,
  measureMergeRequests,
  measureMemory,
  measureStart,
  measurePages,
  measurePlanningPages,
  measureLargeFolder,
  measureLiveComments,
  measureGitCalls,
  measureGitTransport,
  measureMixedWrites,
  measureTwoServices,
  measureWebhooks,
  measureCiDispatch,
  measureCiWaiting,
  measureCiPipelines,
  measureCiArtifacts,
  measureCiRunner,
];

/** What else is measured with a name. */
const together: Record<string, string[]> = { paths: ['pages', 'start', 'memory'] };

const readArguments = () => {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        quick: { type: 'boolean' },
        postgres: { type: 'boolean' },
        json: { type: 'boolean' },
        against: { type: 'string' },
      },
    });
    const only = values.only
      ?.flatMap((text) => text.split(','))
      .flatMap((word) => [word, ...(together[word] ?? [])]);
    const unknown = only?.find((word) => !names.some((name) => name.startsWith(word)));
    if (unknown !== undefined) throw new Error(`--only takes ${names.join(', ')}; not ${unknown}`);
    return { ...values, only };
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
};

const flags = readArguments();
let failures = 0;
const clear = process.stderr.isTTY ? '\r\u001B[K' : '';
const progress = (text: string): void => void (clear !== '' && process.stderr.write(`${clear}… ${text}`));

/** Runs one measure. A failure is printed with its cause and ends the run with code 1, but loses no other figure. */
const attempt = async (measure: Measure, bench: Bench): Promise<Figure[]> => {
  try {
    return await measure(bench);
  } catch (error) {
    console.error(`${clear}${measure.name} failed:`, error);
    failures += 1;
    return [];
  }
};

const run = async (bench: Bench): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const measure of measures) {
    const measured = await attempt(measure, bench);
    figures.push(...measured);
    if (measured.length > 0) process.stderr.write(clear);
    if (measured.length > 0 && flags.json !== true) console.log(table(measured));
  }
  return figures;
};

const finish = (figures: Figure[], pace: Pace): void => {
  const count = (verdict: Figure['verdict']): number =>
    figures.filter((one) => one.verdict === verdict).length;
  const summary = { passed: count('pass'), failed: count('fail'), inconclusive: count('inconclusive') };
  const machine = { pinned: isPinned, pressure: pressure(), pace };
  if (flags.json === true)
    console.log(
      JSON.stringify({ engine: flags.postgres ? 'postgres' : 'sqlite', machine, summary, figures }, null, 2),
    );
  else
    console.log(
      `One bare answer takes ${pace.floor.toFixed(1)} µs here: goals for time are multiplied by ` +
        `${Math.max(1, pace.times).toFixed(2)}.\n` +
        `${summary.passed} goals reached, ${summary.failed} missed, ${summary.inconclusive} inconclusive`,
    );
  process.exitCode = summary.failed + failures > 0 ? 1 : 0;
};

const main = async (): Promise<void> => {
  if (process.platform !== 'linux') throw new Error('the bench reads /proc: it needs Linux');
  // `bin/gantry` runs the sources, which start more slowly and take more memory, if they are newer than the bundles.
  progress('building');
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')]);
  const postgres: Postgres | null = flags.postgres === true ? await startPostgres({ isDurable: true }) : null;
  const databasePids =
    postgres === null
      ? []
      : treeOf(process.pid)
          .filter((pid) => pid !== process.pid)
          .slice(0, 1);
  const against = flags.against === undefined ? null : resolve(flags.against);
  const databases: Databases = makeDatabases(postgres, { progress, checkout: against });
  const loader = startLoader();
  const effort =
    flags.quick === true
      ? { rounds: 3, seconds: 1, sizes: [1_000, 100_000] }
      : { rounds: 5, seconds: 2, sizes: [1_000, 100_000, 1_000_000] };
  const wants = (name: string): boolean => flags.only?.some((word) => name.startsWith(word)) ?? true;
  try {
    const { bench, pace } = await calibrated({
      databases,
      loader,
      ...effort,
      databasePids,
      progress,
      against,
      wants,
    });
    finish(await run(bench), pace);
  } finally {
    await loader.stop();
    await postgres?.stop();
    databases.remove();
  }
};

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
await main();
