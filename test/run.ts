/**
 * What `npm test` runs: the static checks, then all tests on SQLite and on PostgreSQL.
 *
 *   npm test                          everything
 *   npm test -- --static              types, lint, format, unused code
 *   npm test -- --only sqlite         the tests on one engine
 *   npm test -- src/issues            the tests of one folder or file, on both engines
 *   npm test -- --json                one JSON document instead of lines
 *
 * Files in `apart` start services and kill them: they run after the others, each in its own process. Of a few files
 * that failed it is asked once more, alone: what then passes is told as unsteady, with how it failed, and mended.
 */
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll, runCommand, type Ended } from './support/child.ts';
import { startPostgres, type Postgres } from './support/postgres.ts';
import type { Report } from './support/reporter.ts';

type Failure = { file: string; name: string; message: string };
type Result = { passed: number; skipped: number; failures: Failure[]; output: string; unsteady?: Failure[] };
type Step = { name: string; run: () => Promise<Result> };
type Done = Result & { name: string; seconds: number };
/** A name and what its tests find in their environment. */
type Engine = { name: string; env: () => Promise<NodeJS.ProcessEnv> };

const root = join(import.meta.dirname, '..');
const apart = ['test/crash/', 'test/cli/', 'test/clients/', 'test/git/', 'test/ci/'];
const minutes = 60;
/** Files that are asked once more: where more failed, it is the code. */
const mostUnsteady = 3;

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { static: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'boolean' } },
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
const scratch = mkdtempSync(join(tmpdir(), 'gantry-test-'));
chmodSync(scratch, 0o711); // as root, jobs of the runner run as others and must reach their folders

const environment = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GANTRY_'));
  return {
    ...Object.fromEntries(kept),
    PATH: [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
  };
};

// The checks

const check = (name: string, program: string, ...args: string[]): Step => ({
  name,
  run: async () => {
    const ended = await runCommand({ program, args, env: environment(), seconds: minutes * 60 });
    const failures = ended.code === 0 ? [] : [{ file: '', name, message: reasonOf(ended) }];
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

const reasonOf = ({ code, late }: Ended): string => {
  if (late) return `killed: not done after ${minutes} minutes`;
  return code === null ? 'ended by a signal' : `ended with code ${code}`;
};

// The tests

const testFiles = (): string[] => {
  const files = globSync('{src,gitd,runner,zip,test}/**/*.test.ts', { cwd: root }).toSorted();
  const isWanted = (file: string): boolean =>
    flags.paths.some((path) => file === path || file.startsWith(`${path}/`));
  return flags.paths.length === 0 ? files : files.filter(isWanted);
};

const together = (engine: Engine, files: string[]): Step =>
  tests(engine.name, engine, [...timeout(180), 'test/support/one_process.ts', ...files]);

const separately = (engine: Engine, files: string[]): Step =>
  tests(`${engine.name}, apart`, engine, ['--test', '--test-concurrency=2', ...timeout(300), ...files]);

const testFileOf = ({ file }: Failure): string | undefined => /[\w./-]+\.test\.ts/.exec(file)?.[0];

/** Whether a machine that was busy made the tests fail, or the code: the files that failed, once more and alone. */
const onceMore = async (engine: Engine, done: Done): Promise<Done> => {
  const files = [...new Set(done.failures.map(testFileOf))];
  if (files.length === 0 || files.length > mostUnsteady) return done;
  if (!files.every((file) => file !== undefined)) return done;
  const name = `${done.name}, once more`;
  const args = ['--test', '--test-concurrency=1', ...timeout(300), ...files];
  const [again] = await runAll([tests(name, engine, args)]);
  const isClean = again !== undefined && again.failures.length === 0 && again.passed > 0;
  if (!isClean) return done;
  return { ...done, passed: done.passed + done.failures.length, failures: [], unsteady: done.failures };
};

const timeout = (seconds: number): string[] => [`--test-timeout=${seconds * 1000}`];

const tests = (name: string, engine: Engine, args: string[]): Step => ({
  name,
  run: async () => {
    const folder = join(scratch, name.replace(/\W+/g, '-'));
    mkdirSync(folder);
    const [log, begun] = [`${folder}.log`, `${folder}.begun`];
    const reporting = ['--test-reporter=./test/support/reporter.ts', `--test-reporter-destination=${log}`];
    const env = { ...environment(), ...(await engine.env()), TMPDIR: folder, TEST_BEGUN: begun };
    const command = { program: process.execPath, args: [...reporting, ...args], env, seconds: minutes * 60 };
    const ended = await runCommand(command);
    rmSync(folder, { recursive: true, force: true });
    return resultOf(ended, readIfThere(log), readIfThere(begun));
  },
});

const readIfThere = (file: string): string => readFileSync(file, { encoding: 'utf8', flag: 'a+' });

/** The counts of what was reported; a run that broke off is one more failure. */
const resultOf = (ended: Ended, log: string, begun: string): Result => {
  const lines = log.split('\n').slice(0, -1); // the last one is empty, or was never finished
  const reports = lines.map((line) => JSON.parse(line) as Report);
  const of = (kind: Report['kind']): Report[] => reports.filter((one) => one.kind === kind);
  const failures = of('fail').map(({ file = '', name = '', message = '' }) => ({ file, name, message }));
  if (of('end').length === 0 || (ended.code !== 0 && failures.length === 0)) {
    const done = of('done').map(({ file }) => file);
    const open = of('begin').filter(({ file }) => !done.includes(file));
    const message = ended.code === 0 ? 'the process left before its last test' : reasonOf(ended);
    failures.push({
      file: open.map(({ file }) => file).join(', '),
      name: begun && `${begun} (the last to begin)`,
      message,
    });
  }
  const texts = of('text').map(({ message }) => message);
  return {
    passed: of('pass').length,
    skipped: of('skip').length,
    failures,
    output: ended.output + texts.join(''),
  };
};

// The run

const main = async (): Promise<void> => {
  const narrowed = flags.only !== undefined || flags.paths.length > 0;
  const done = narrowed ? [] : await runAll(checks);
  if (!flags.static) done.push(...(await runTests()));
  finish(done);
};

const runTests = async (): Promise<Done[]> => {
  let server: Promise<Postgres> | undefined;
  const postgres = async () => ({ GANTRY_TEST_DATABASE_URL: (await (server ??= startPostgres())).url });
  const engines = [
    { name: 'sqlite', env: async () => ({}) },
    { name: 'postgres', env: postgres },
  ].filter(({ name }) => flags.only === undefined || flags.only === name);
  const isApart = (file: string): boolean => apart.some((folder) => file.startsWith(folder));
  const { rest = [], own = [] } = Object.groupBy(testFiles(), (file) => (isApart(file) ? 'own' : 'rest'));
  const first = rest.length === 0 ? [] : await runAll(engines.map((engine) => together(engine, rest)));
  const done: Done[] = [];
  for (const engine of engines) {
    if (own.length > 0) first.push(...(await runAll([separately(engine, own)])));
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
