/**
 * What `npm test` runs: the static checks, then all tests on SQLite and on PostgreSQL.
 *
 *   npm test                          everything
 *   npm test -- --static              types, lint, format, unused code
 *   npm run test:all                  everything, and the long tables whole (`GANTRY_TEST_ALL`)
 *   npm test -- --only sqlite         the tests on one engine
 *   npm test -- src/issues            the tests of one folder or file, on both engines
 *   npm test -- --json                one JSON document instead of lines
 *
 * Files in `apart` start services and kill them: they run after the others, each in its own process. What knows no
 * store (`support/storeless.ts`) is asked once. Of a few files that failed it is asked once more, alone: what then
 * passes is told as unsteady, with how it failed, and mended.
 */
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll, runCommand } from './support/child.ts';
import { startPostgres, type Postgres } from './support/postgres.ts';
import { type Failure, type Result, reasonOf, resultOf, sumOf } from './support/results.ts';
import { makeScratch } from './support/scratch.ts';
import { isIn, storeless } from './support/storeless.ts';

type Step = { name: string; run: () => Promise<Result> };
type Done = Result & { name: string; seconds: number };
/** A name and what its tests find in their environment. */
type Engine = { name: string; env: () => Promise<NodeJS.ProcessEnv> };

const root = join(import.meta.dirname, '..');
const apart = ['test/crash/', 'test/cli/', 'test/clients/', 'test/git/', 'test/ci/'];
const minutes = 60;
/** Seconds of a file. */
const slow = 20;
const filesOfAProcess = 50;
/** Files that are asked once more: where more failed, it is the code. */
const mostUnsteady = 3;

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        static: { type: 'boolean' },
        all: { type: 'boolean' },
        only: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const isEngine = values.only === undefined || ['sqlite', 'postgres'].includes(values.only);
    if (!isEngine) throw new Error('--only takes sqlite or postgres');
    return { ...values, paths: positionals.map((path) => relative(root, resolve(path))) };
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
};

const flags = readArguments();
const scratch = makeScratch();

const environment = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GANTRY_'));
  return {
    ...Object.fromEntries(kept),
    ...(flags.all && { GANTRY_TEST_ALL: '1' }),
    PATH: [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    NODE_COMPILE_CACHE: join(scratch, 'compiled'),
  };
};

// The checks

const check = (name: string, program: string, ...args: string[]): Step => ({
  name,
  run: async () => {
    const ended = await runCommand({ program, args, env: environment(), seconds: minutes * 60 });
    const failures = ended.code === 0 ? [] : [{ file: '', name, message: reasonOf(ended, minutes) }];
    const passed = flags.static && ended.code === 0 ? 1 : 0; // the closing line counts tests where there are any
    return { passed, skipped: 0, failures, output: ended.output };
  },
});

const checks = [
  check('types', 'tsc', '--noEmit'),
  check('lint', 'oxlint'),
  check('format', 'oxfmt', '--check', '.'),
  check('unused', 'knip', '--no-progress', '--no-config-hints'),
];

// The tests

const testFiles = (): string[] => {
  const files = globSync('{src,gitd,runner,zip,test}/**/*.test.ts', { cwd: root }).toSorted();
  const isWanted = (file: string): boolean =>
    flags.paths.some((path) => file === path || file.startsWith(`${path}/`));
  return flags.paths.length === 0 ? files : files.filter(isWanted);
};

/**
 * In one process as many files as it is still quick with: what one of them leaves in memory burdens the next. One
 * process after another: the other engine has the other core.
 */
const together = (engine: Engine, files: string[]): Step => ({
  name: engine.name,
  run: async () => {
    const results: Result[] = [];
    for (let at = 0; at < files.length; at += filesOfAProcess) {
      const some = files.slice(at, at + filesOfAProcess);
      results.push(await runTests(engine, [...timeout(180), 'test/support/one_process.ts', ...some]));
    }
    return sumOf(results);
  },
});

/** Each file in a process of its own. */
const separately = (name: string, engine: Engine, files: string[], atOnce: number): Step => ({
  name,
  run: async () =>
    await runTests(engine, ['--test', `--test-concurrency=${atOnce}`, ...timeout(300), ...files]),
});

const testFileOf = ({ file }: Failure): string | undefined => /[\w./-]+\.test\.ts/.exec(file)?.[0];

/** Whether a machine that was busy made the tests fail, or the code: the files that failed, once more and alone. */
const onceMore = async (engine: Engine, done: Done): Promise<Done> => {
  const files = [...new Set(done.failures.map(testFileOf))];
  if (files.length === 0 || files.length > mostUnsteady) return done;
  if (!files.every((file) => file !== undefined)) return done;
  const name = `${done.name}, once more`;
  const [again] = await runAll([separately(name, engine, files, 1)]);
  const isClean = again !== undefined && again.failures.length === 0 && again.passed > 0;
  if (!isClean) return done;
  return { ...done, passed: done.passed + done.failures.length, failures: [], unsteady: done.failures };
};

/** A long table is one test. */
const timeout = (seconds: number): string[] => [`--test-timeout=${seconds * (flags.all ? 10 : 1) * 1000}`];

let runs = 0;

const runTests = async (engine: Engine, args: string[]): Promise<Result> => {
  runs += 1;
  const folder = join(scratch, `${engine.name}-${runs}`);
  mkdirSync(folder);
  const [log, begun] = [`${folder}.log`, `${folder}.begun`];
  const reporting = ['--test-reporter=./test/support/reporter.ts', `--test-reporter-destination=${log}`];
  const env = { ...environment(), ...(await engine.env()), TMPDIR: folder, TEST_BEGUN: begun };
  const command = { program: process.execPath, args: [...reporting, ...args], env, seconds: minutes * 60 };
  const ended = await runCommand(command);
  rmSync(folder, { recursive: true, force: true });
  return resultOf(ended, readIfThere(log), readIfThere(begun), minutes);
};

const readIfThere = (file: string): string => readFileSync(file, { encoding: 'utf8', flag: 'a+' });

// The run

const main = async (): Promise<void> => {
  const narrowed = flags.only !== undefined || flags.paths.length > 0;
  const done = narrowed ? [] : await runAll(checks);
  if (!flags.static) done.push(...(await runOnEngines()));
  finish(done);
};

const runOnEngines = async (): Promise<Done[]> => {
  let server: Promise<Postgres> | undefined;
  const postgres = async () => ({ GANTRY_TEST_DATABASE_URL: (await (server ??= startPostgres())).url });
  const engines = [
    { name: 'sqlite', env: async () => ({}) },
    { name: 'postgres', env: postgres },
  ].filter(({ name }) => flags.only === undefined || flags.only === name);
  const filesOf = (engine: Engine) => {
    const files = testFiles().filter((file) => engine === engines[0] || !isIn(storeless, file));
    const { rest = [], own = [] } = Object.groupBy(files, (file) => (isIn(apart, file) ? 'own' : 'rest'));
    return { rest, own };
  };
  const side = engines.map((engine) => ({ engine, files: filesOf(engine).rest }));
  const steps = side.filter(({ files }) => files.length > 0);
  const first = await runAll(steps.map(({ engine, files }) => together(engine, files)));
  const done: Done[] = [];
  for (const engine of engines) {
    const { own } = filesOf(engine);
    if (own.length > 0) first.push(...(await runAll([separately(`${engine.name}, apart`, engine, own, 2)])));
    const ours = first.filter(({ name }) => name.startsWith(engine.name));
    for (const one of ours) done.push(await onceMore(engine, one));
  }
  await server?.then(({ stop }) => stop()).catch(() => {}); // why it did not start is told by its tests
  return done;
};

/** Runs the steps side by side and prints each as it ends. */
const runAll = async (steps: Step[]): Promise<Done[]> => {
  const open = new Set(steps.map(({ name }) => name));
  const begun = performance.now();
  const tick = setInterval(() => show(open, begun), 1000);
  const run = async ({ name, run: work }: Step): Promise<Done> => {
    const result = await work().catch(notRun);
    const seconds = (performance.now() - begun) / 1000;
    open.delete(name);
    print({ ...result, name, seconds });
    return { ...result, name, seconds };
  };
  try {
    return await Promise.all(steps.map(run));
  } finally {
    clearInterval(tick);
  }
};

const notRun = (error: unknown): Result => {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { passed: 0, skipped: 0, failures: [{ file: '', name: 'could not run', message }], output: '' };
};

const say = (text: string): void => {
  if (!flags.json) process.stdout.write(text);
};

const clear = process.stdout.isTTY ? '\r\u001B[K' : '';

const show = (open: Set<string>, begun: number): void => {
  const seconds = Math.round((performance.now() - begun) / 1000);
  if (clear && open.size > 0) say(`${clear}… ${[...open].join(', ')} ${seconds} s`);
};

const print = ({ name, seconds, passed, skipped, failures, output }: Done): void => {
  const ok = failures.length === 0;
  const isCheck = checks.some((one) => one.name === name);
  const counts = isCheck ? '' : `  ${summary(passed, failures.length, skipped)}`;
  say(`${clear}${ok ? '✓' : '✗'} ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s${counts}\n`);
  if (ok) return;
  const told = failures.map((one) => [one.file, one.name, indent(one.message)].filter(Boolean).join('\n'));
  say(`\n${indent([output.trimEnd(), ...told].filter(Boolean).join('\n\n'))}\n\n`);
};

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

const summary = (passed: number, failed: number, skipped: number): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/** What to look at where all takes too long. */
const slowestOf = (done: Done[]): string[] =>
  done
    .flatMap(({ name, times = [] }) => times.map((one) => ({ ...one, name })))
    .filter(({ seconds }) => seconds >= slow)
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, 10)
    .map(({ name, file, seconds }) => `${file} (${name}) ${seconds.toFixed(0)} s`);

const finish = (done: Done[]): void => {
  const sum = (count: (one: Done) => number): number => done.reduce((total, one) => total + count(one), 0);
  const [passed, failed, skipped] = [
    sum((one) => one.passed),
    sum((one) => one.failures.length),
    sum((one) => one.skipped),
  ];
  const unsteady = done.flatMap((one) => one.unsteady ?? []);
  const none = !flags.static && passed + failed === 0;
  if (none) say('no test ran\n');
  for (const { file, name } of unsteady) say(`unsteady: ${file} ${name}\n`);
  for (const line of slowestOf(done)) say(`slow: ${line}\n`);
  say(`${summary(passed, failed, skipped)}${unsteady.length > 0 ? `, ${unsteady.length} unsteady` : ''}\n`);
  if (flags.json) console.log(JSON.stringify({ passed, failed, skipped, steps: done }, null, 2));
  process.exitCode = failed > 0 || none ? 1 : 0;
};

process.chdir(root);
process.on('exit', () => {
  killAll();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
await main();
