/**
 * Keeps the built-in runner running: a separate process that talks to the service like any runner. When the service
 * ends, it accepts no new jobs, finishes its running jobs, and reports to the next service at this address.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../../core/platform.ts';
import { isMissing } from '../../platform/blob/file_system.ts';
import type { RunnerConfig } from '../../platform/config/runner.ts';
import { version } from '../../platform/version.ts';
import { programPath } from '../../platform/package_files.ts';

export type RunnerOrders = {
  url: string;
  token: string;
  executor: string;
  is_local: boolean;
  concurrency: number;
  folder: string;
  /** Memory in bytes; null: unlimited. */
  memory?: number | null;
  processes?: number;
  /** Bytes of a job's files; null: unlimited. */
  disk?: number | null;
  /** Bytes of a log; seconds without output. */
  log_limit?: number;
  idle_limit?: number;
  /** Bytes of all caches; days for which caches and sources are kept. */
  cache_limit?: number;
  keep_days?: number;
  pull_policies?: string[];
};

/** The message that the runner sends when it has started; `executor` is null if none works. */
export type RunnerReady = { executor: string | null; notices: string[] };

const nodeFlags = ['--max-semi-space-size=2', '--disable-proto=delete'];

/** Environment of the runner's own programs; jobs do not inherit it. */
const environment = (): NodeJS.ProcessEnv => {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', 'XDG_RUNTIME_DIR', 'DOCKER_HOST'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
};

export type RunnerProcess = {
  child: ChildProcess;
  /** Rejects if the runner ends before it is ready. */
  ready: Promise<RunnerReady>;
  ended: Promise<void>;
};

/** @param onLine called with each line that the runner logs */
export const spawnRunner = (orders: RunnerOrders, onLine: (line: string) => void): RunnerProcess => {
  const child = spawn(process.execPath, [...nodeFlags, programPath('runner/main.ts', 'runner')], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // signals of the terminal must not reach the jobs
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify({ ...orders, version })}\n`);
  createInterface({ input: child.stderr }).on('line', onLine);
  const { promise, resolve, reject } = Promise.withResolvers<RunnerReady>();
  const lines = createInterface({ input: child.stdout });
  lines.once('line', (line) => resolve(JSON.parse(line) as RunnerReady));
  lines.once('close', () => reject(new Error('the runner ended while it started')));
  promise.catch(() => undefined);
  return { child, ready: promise, ended };
};

/** Lets the runner keep running without keeping this process alive. */
const detach = ({ child }: RunnerProcess): void => {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr])
    (pipe as unknown as { unref: () => void } | null)?.unref();
};

/** Returns the runner's folder. Run as root, jobs use other accounts, which cannot enter the private data folder. */
const folderFor = (data: string): string => {
  if (process.getuid?.() !== 0) return join(data, 'runner');
  return join('/var/lib/gantry-runner', hash('sha256', data, 'hex').slice(0, 12));
};

const tokenFile = 'runner_token';

const readStoredToken = async ({ config, store }: Platform): Promise<string | null> => {
  const { findRunnerByToken } = await import('../../ci/runners/find_by_token.ts');
  try {
    const token = readFileSync(join(config.data, tokenFile), 'utf8').trim();
    return (await findRunnerByToken(store.db, token)) === null ? null : token;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

const provideToken = async (platform: Platform): Promise<string> => {
  const kept = await readStoredToken(platform);
  if (kept !== null) return kept;
  const { createBuiltInRunner } = await import('../../ci/runners/registration/create_built_in_runner.ts');
  const { token } = await createBuiltInRunner(platform);
  writeFileSync(join(platform.config.data, tokenFile), `${token}\n`, { mode: 0o600 });
  return token;
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Returns whether only this machine reaches the service: no proxy and a loopback address. */
const isForThisMachine = ({ listen, external_url }: Platform['config']): boolean =>
  isLoopback(listen.host) && (external_url === null || isLoopback(new URL(external_url).hostname));

/** Returns the URL at which the runner reaches the service. A wildcard address is replaced by loopback. */
const getServiceUrl = (bound: string): string => {
  const url = new URL(bound);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin;
};

/** Milliseconds before the first restart, the longest pause between restarts, and until an idle runner stops. */
const pauses = { first: 1_000, max: 60_000, stop: 1_000 };

const megabyte = 2 ** 20;

export const getJobLimits = (config: RunnerConfig) => ({
  memory: config.runner_memory === 0 ? null : config.runner_memory * megabyte,
  processes: config.runner_processes,
  disk: config.runner_disk === 0 ? null : config.runner_disk * megabyte,
  log_limit: config.runner_log_limit * megabyte,
  idle_limit: config.runner_idle_timeout,
  cache_limit: config.runner_cache_limit * megabyte,
  keep_days: config.runner_keep_days,
  pull_policies: config.runner_pull_policy,
});

const makeOrders = async (platform: Platform, bound: string): Promise<RunnerOrders> => {
  const { config } = platform;
  const { runner_executor, runner_concurrency, runner_folder, data } = config;
  return {
    ...getJobLimits(config),
    url: getServiceUrl(bound),
    token: await provideToken(platform),
    executor: runner_executor,
    is_local: isForThisMachine(config),
    concurrency: runner_concurrency ?? availableParallelism(),
    folder: runner_folder ?? folderFor(data),
  };
};

/**
 * Starts the runner, and restarts it whenever it dies.
 * @param bound the URL of the bound address
 * @returns a function that stops the runner
 */
export const keepBuiltInRunner = (platform: Platform, bound: string): (() => Promise<void>) => {
  const { log } = platform;
  const stopping = new AbortController();
  let running: RunnerProcess | null = null;
  const runOnce = async (): Promise<boolean> => {
    const orders = await makeOrders(platform, bound);
    if (stopping.signal.aborted) return false;
    const runner = spawnRunner(orders, (line) => log.info({ runner: line }, 'runner'));
    running = runner;
    detach(runner);
    const { executor, notices } = await runner.ready;
    for (const notice of notices) log.warn({ notice }, 'built-in runner');
    if (executor === null)
      log.warn('the built-in runner has no working executor; jobs wait for other runners');
    else log.info({ executor, pid: runner.child.pid }, 'the built-in runner is ready');
    await runner.ended;
    return executor !== null;
  };
  const keep = async (): Promise<void> => {
    let pause = pauses.first;
    while (!stopping.signal.aborted) {
      const began = performance.now();
      const again = await runOnce().catch((error: unknown) => {
        log.error({ err: error }, 'cannot start the built-in runner');
        return true;
      });
      if (!again || stopping.signal.aborted) return;
      log.warn('the built-in runner ended and is restarted');
      pause = performance.now() - began > pauses.max ? pauses.first : Math.min(pause * 2, pauses.max);
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  const kept = keep();
  return async () => {
    stopping.abort();
    running?.child.stdin?.end();
    await Promise.race([kept, wait(pauses.stop)]);
  };
};
