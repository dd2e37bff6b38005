/**
 * What `npm test` runs: the static checks beside the tests on SQLite, and on PostgreSQL those that depend on the engine
 * and a sample of the others.
 *
 *   npm test                          what a change must pass, in ten minutes on two cores
 *   npm run test:all                  every test on both engines, the long tables whole
 *   npm test -- --changed             the tests that the branch and uncommitted changes reach
 *   npm test -- --static              types, lint, format, unused code
 *   npm test -- --only sqlite         the tests on one engine, all of them
 *   npm test -- src/issues            the tests of one folder or file, on both engines
 *   npm test -- --seed NUMBER         the samples of an earlier run, which printed its seed
 *   npm test -- --json                one JSON document instead of lines
 *
 * Where at most three files failed, each runs once more by itself. A test that then passes is reported as unsteady, with
 * its first failure.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { getBudget } from './support/run/budgets.ts';
import { changedFiles, testsReachedBy } from './support/run/changed_tests.ts';
import { readProcessorSeconds } from './support/run/processor_seconds.ts';
import { killAll, runCommand } from './support/run/run_command.ts';
import { type EngineName, type Work, planWork, rememberDurations } from './support/run/plan.ts';
import { startPostgres, type Postgres } from './support/databases/postgres.ts';
import { filesInProcesses, runGroup, runWork } from './support/run/test_processes.ts';
import {
  type Failure,
  type FileTime,
  type Result,
  explainEnd,
  sumResults,
} from './support/run/step_results.ts';
import { makeScratch } from './support/run/scratch_folder.ts';

type Done = Result & { name: string; seconds: number };

const root = join(import.meta.dirname, '..');
const minutes = 60;
/** Failed files that run once more: where more failed, it is the code. */
const maxUnsteadyFiles = 3;

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        static: { type: 'boolean' },
        all: { type: 'boolean' },
        changed: { type: 'boolean' },
        only: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const isEngine = values.only === undefined || ['sqlite', 'postgres'].includes(values.only);
    if (!isEngine) throw new Error('--only takes sqlite or postgres');
    if (!/^\d*$/.test(values.seed ?? '')) throw new Error('--seed takes a number');
    return { ...values, paths: positionals.map((path) => relative(root, resolve(path))) };
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
};

const flags = readArguments();
const scratch = makeScratch();
const begun = performance.now();

/** Changes with each commit, so that the samples of many runs together hold everything. */
const commitSeed = (): number => {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    return 1; // the sources without their repository
  }
};
const seed = flags.seed === undefined ? commitSeed() : Number(flags.seed);

/** Variables that name programs of others, which tests drive. */
const namesOfPrograms: readonly string[] = ['GANTRY_TEST_GITLAB_RUNNER'];

const environment = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GANTRY_') || namesOfPrograms.includes(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...(flags.all && { GANTRY_TEST_ALL: '1' }),
    GANTRY_TEST_SEED: String(seed),
    PATH: [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/gantry/compiled'),
  };
};

// The checks

type Check = { name: string; command: [program: string, ...args: string[]]; mend: string };

/** The compiler and the linter run beside the tests. With more threads, each would infer the same types again. */
const oneThread = { GOMAXPROCS: '1' };

const checks: Check[] = [
  {
    name: 'types',
    command: ['tsc', '--noEmit', '--checkers', '1'],
    mend: 'the compiler options are in tsconfig.json',
  },
  {
    name: 'client types',
    command: ['tsc', '--noEmit', '--project', 'src/doors/web/client'],
    mend: 'the compiler options are in src/doors/web/client/tsconfig.json',
  },
  { name: 'lint', command: ['oxlint'], mend: 'the rules are in .oxlintrc.json, their reasons in STYLE.md' },
  { name: 'format', command: ['oxfmt', '--check', '.'], mend: 'run "npm run format"' },
  {
    name: 'unused',
    command: ['knip', '--no-progress', '--no-config-hints'],
    mend: 'remove what is unused; entry points are named in knip.json',
  },
];

const runCheck = async ({ name, command: [program, ...args], mend }: Check): Promise<Done> => {
  const start = performance.now();
  const ended = await runCommand({
    program,
    args,
    env: { ...environment(), ...oneThread },
    seconds: minutes * 60,
  });
  const message = `${explainEnd(ended, minutes)}; ${mend}`;
  const failures = ended.code === 0 ? [] : [{ file: '', name, message }];
  const passed = flags.static && ended.code === 0 ? 1 : 0; // the closing line counts tests where there are any
  const seconds = (performance.now() - start) / 1000;
  const done = { passed, skipped: 0, failures, output: ended.output, name, seconds };
  print(done);
  return done;
};

/** Comes before the tests: those that start the program many times run what was built, as after `npm ci`. */
const build: Check = {
  name: 'build',
  command: ['node', 'build.ts'],
  mend: 'the bundles are made by build.ts',
};

const runChecks = async (): Promise<Done[]> => {
  const done: Done[] = [];
  for (const check of checks) done.push(await runCheck(check));
  return done;
};

// The tests

const isNarrowed = flags.only !== undefined || flags.paths.length > 0;

const testFiles = (): string[] => {
  const all = globSync('{src,gitd,runner,zip,test}/**/*.test.ts', { cwd: root }).toSorted();
  const isNamed = (file: string): boolean =>
    flags.paths.length === 0 || flags.paths.some((path) => file === path || file.startsWith(`${path}/`));
  const named = all.filter(isNamed);
  return flags.changed ? testsReachedBy(changedFiles(), named) : named;
};

let server: Promise<Postgres> | undefined;
const templates = new Map<EngineName, Promise<NodeJS.ProcessEnv>>();

const startEngine = async (engine: EngineName): Promise<NodeJS.ProcessEnv> => {
  const url =
    engine === 'postgres' ? { GANTRY_TEST_DATABASE_URL: (await (server ??= startPostgres())).url } : {};
  const folder = join(scratch, `${engine}-template`);
  mkdirSync(folder);
  const env = { ...environment(), ...url };
  const args = ['test/support/run/migrate_template.ts', folder];
  const ended = await runCommand({ program: process.execPath, args, env, seconds: 300 });
  if (ended.code !== 0) throw new Error(`The database for the tests was not migrated.\n${ended.output}`);
  return { ...url, GANTRY_TEST_TEMPLATE: ended.output };
};

const engineEnvironment = async (engine: EngineName): Promise<NodeJS.ProcessEnv> => {
  const started = templates.get(engine) ?? startEngine(engine);
  templates.set(engine, started);
  return { ...environment(), ...(await started) };
};

const options = {
  scratch,
  environment: engineEnvironment,
  // A long table is one test.
  timeout: flags.all ? 3000 : 300,
  minutes: flags.all ? 240 : minutes,
  // More than processors: tests wait for intervals, and for processes that they start.
  processes: availableParallelism() + 2,
};

let total = 0;
let ended = 0;

const runTests = async (): Promise<Done[]> => {
  const engines = (['sqlite', 'postgres'] as const).filter((name) => (flags.only ?? name) === name);
  const isWhole = flags.all === true || isNarrowed;
  const work = planWork({ engines, files: testFiles(), isWhole, seed });
  total = work.length;
  const results = new Map<EngineName, Result[]>(engines.map((engine) => [engine, []]));
  const seconds = new Map<EngineName, number>();
  await runWork(work, options, (group, result) => {
    const engine = group[0]?.engine ?? 'sqlite';
    ended += group.length;
    results.get(engine)?.push(result);
    seconds.set(engine, (performance.now() - begun) / 1000);
    printFailures(result);
  });
  rememberDurations(
    [...results].flatMap(([engine, all]) =>
      (sumResults(all).times ?? []).map((time) => ({ ...time, engine })),
    ),
  );
  const done: Done[] = [];
  for (const [engine, all] of results) {
    const one = await onceMore(engine, sumResults(all));
    done.push({ ...one, name: engine, seconds: seconds.get(engine) ?? 0 });
  }
  // What is wrong with a server that did not start is part of its tests' failures.
  await server?.then(({ stop }) => stop()).catch(() => {});
  return done.filter(({ passed, skipped, failures }) => passed + skipped + failures.length > 0);
};

const testFileOf = ({ file }: Failure): string | undefined => /[\w./-]+\.test\.ts/.exec(file)?.[0];

/** Tells a busy machine from broken code: runs the files that failed once more, each by itself. */
const onceMore = async (engine: EngineName, result: Result): Promise<Result> => {
  const files = [...new Set(result.failures.map(testFileOf))];
  if (files.length === 0 || files.length > maxUnsteadyFiles) return result;
  const again: Result[] = [];
  for (const file of files) {
    if (file === undefined) return result;
    const work: Work = { engine, file, seconds: 0, isAlone: true, company: '' };
    again.push(await runGroup([work], options));
  }
  const isClean = again.every(({ failures, passed }) => failures.length === 0 && passed > 0);
  if (!isClean) return result;
  return {
    ...result,
    passed: result.passed + result.failures.length,
    failures: [],
    unsteady: result.failures,
  };
};

// What is printed

const say = (text: string): void => {
  if (!flags.json) process.stdout.write(text);
};

const clear = process.stdout.isTTY ? '\r\u001B[K' : '';
/** Seconds between two lines of progress where the output is no terminal. */
const lineInterval = 30;

const elapsed = (): string => {
  const seconds = Math.round((performance.now() - begun) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

const showProgress = (): void => {
  if (total === 0) return;
  const { done, running } = filesInProcesses();
  const line = `… ${ended + done} of ${total} files, ${elapsed()} min`;
  say(clear ? `${clear}${line}, ${running.join(', ')}`.slice(0, process.stdout.columns) : `${line}\n`);
};

const print = ({ name, seconds, passed, skipped, failures, output }: Done): void => {
  const ok = failures.length === 0;
  const isCheck = [build, ...checks].some((one) => one.name === name);
  const counts = isCheck ? '' : `  ${summary(passed, failures.length, skipped)}`;
  say(`${clear}${ok ? '✓' : '✗'} ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s${counts}\n`);
  if (isCheck) printFailures({ passed, skipped, failures, output });
};

const printFailures = ({ failures, output }: Result): void => {
  if (failures.length === 0) return;
  const texts = failures.map((one) => [one.file, one.name, indent(one.message)].filter(Boolean).join('\n'));
  say(`${clear}\n${indent([output.trimEnd(), ...texts].filter(Boolean).join('\n\n'))}\n\n`);
};

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

const summary = (passed: number, failed: number, skipped: number): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

const withEngine = ({ name, times = [] }: Done): (FileTime & { engine: string })[] =>
  times.map((time) => ({ ...time, engine: name }));

/** The ten slowest files, and every file with a test over its budget. */
const slowest = (done: Done[]): string[] => {
  const all = done.flatMap(withEngine).toSorted((one, other) => other.seconds - one.seconds);
  const isOver = ({ file, longestTest }: FileTime): boolean => longestTest > getBudget(file);
  return all
    .filter((one, index) => index < 10 || isOver(one))
    .map((one) => {
      const test = `longest test ${one.longestTest.toFixed(1)} s of ${getBudget(one.file)} s`;
      const took = `${one.seconds.toFixed(1)} s, ${one.processor.toFixed(1)} processor s`;
      return `${isOver(one) ? 'over budget' : 'slow'}: ${one.file} (${one.engine}) ${took}, ${test}`;
    });
};

/** Processor minutes of everything this run started; null where the system does not count them. */
const processorMinutes = (): string | null => {
  const seconds = readProcessorSeconds();
  return seconds === 0 ? null : (seconds / 60).toFixed(1);
};

const finish = (done: Done[]): void => {
  const sum = (count: (one: Done) => number): number => done.reduce((all, one) => all + count(one), 0);
  const [passed, failed, skipped] = [
    sum((one) => one.passed),
    sum((one) => one.failures.length),
    sum((one) => one.skipped),
  ];
  const unsteady = done.flatMap((one) => one.unsteady ?? []);
  const none = !flags.static && passed + failed === 0;
  if (none) say('no test ran\n');
  for (const { file, name } of unsteady) say(`unsteady: ${file} ${name}\n`);
  if (total > 10) for (const line of slowest(done)) say(`${line}\n`);
  const processor = processorMinutes();
  say(`${elapsed()} min${processor === null ? '' : `, ${processor} processor min`}, seed ${seed}\n`);
  say(`${summary(passed, failed, skipped)}${unsteady.length > 0 ? `, ${unsteady.length} unsteady` : ''}\n`);
  if (flags.json) console.log(JSON.stringify({ passed, failed, skipped, seed, steps: done }, null, 2));
  process.exitCode = failed > 0 || none ? 1 : 0;
};

// The run

const main = async (): Promise<void> => {
  const tick = setInterval(showProgress, (clear ? 1 : lineInterval) * 1000);
  try {
    const isChecked = flags.static === true || !(isNarrowed || flags.changed);
    const built = isChecked && !flags.static ? [await runCheck(build)] : [];
    const [checked, tested] = await Promise.all([
      isChecked ? runChecks() : [],
      flags.static ? [] : runTests(),
    ]);
    for (const one of tested) print(one);
    finish([...built, ...checked, ...tested]);
  } finally {
    clearInterval(tick);
  }
};

process.chdir(root);
process.on('exit', () => {
  killAll();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
await main();
