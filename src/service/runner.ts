/**
 * Keeps the built-in runner: a program of its own that speaks to us as any other runner does. It gets no more jobs
 * when we end, however that is, but those that it has go on, and are told of to whoever answers here next.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../access/call.ts';
import type { RunnerConfig } from '../config_runner.ts';
import { version } from '../version.ts';

export type RunnerOrders = {
  url: string;
  token: string;
  executor: string;
  is_local: boolean;
  concurrency: number;
  folder: string;
  /** Bytes; null: as much as there is. */
  memory?: number | null;
  processes?: number;
  /** Bytes of a job's files; null: as many as the disk takes. */
  disk?: number | null;
  /** Bytes of a log; seconds of silence. */
  log_limit?: number;
  idle_limit?: number;
  /** Bytes of all caches; days for which they and sources are kept. */
  cache_limit?: number;
  keep_days?: number;
  pull_policies?: string[];
};

/** What it says of itself when it has started; `executor` is null where it can run nothing. */
export type RunnerReady = { executor: string | null; notices: string[] };

const nodeFlags = ['--max-semi-space-size=2', '--disable-proto=delete'];

/** What was built stands in `dist/`, beside the bundle that this is then a part of. */
const programPath = (): string =>
  import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '../../runner/main.ts')
    : join(import.meta.dirname, '../runner.mjs');

/** For programs of its own alone: jobs get nothing of it. */
const environment = (): NodeJS.ProcessEnv => {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', 'XDG_RUNTIME_DIR', 'DOCKER_HOST'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
};

export type RunnerProcess = {
  child: ChildProcess;
  /** Rejects where it ends before it has said a word. */
  ready: Promise<RunnerReady>;
  ended: Promise<void>;
};

/** @param onLine told each line that it logs */
export const spawnRunner = (orders: RunnerOrders, onLine: (line: string) => void): RunnerProcess => {
  const child = spawn(process.execPath, [...nodeFlags, programPath()], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // what a terminal tells us is not meant for its jobs
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

/** It may go on for as long as it likes, but not keep us from ending. */
const letGo = ({ child }: RunnerProcess): void => {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr])
    (pipe as unknown as { unref: () => void } | null)?.unref();
};

/** With an administrator's rights, jobs run as others, who must reach their folders: our own is closed to them. */
const folderFor = (data: string): string => {
  if (process.getuid?.() !== 0) return join(data, 'runner');
  return join('/var/lib/gantry-runner', createHash('sha256').update(data).digest('hex').slice(0, 12));
};

const tokenFile = 'runner_token';

const keptToken = async ({ config, store }: Platform): Promise<string | null> => {
  const { findRunnerByToken } = await import('../runners/find.ts');
  try {
    const token = readFileSync(join(config.data, tokenFile), 'utf8').trim();
    return (await findRunnerByToken(store.db, token)) === null ? null : token;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  }
};

const tokenOf = async (platform: Platform): Promise<string> => {
  const kept = await keptToken(platform);
  if (kept !== null) return kept;
  const { createBuiltInRunner } = await import('../runners/built_in.ts');
  const { token } = await createBuiltInRunner(platform);
  writeFileSync(join(platform.config.data, tokenFile), `${token}\n`, { mode: 0o600 });
  return token;
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Behind a proxy, others reach us, too. */
const isForThisMachine = ({ listen, external_url }: Platform['config']): boolean =>
  isLoopback(listen.host) && (external_url === null || isLoopback(new URL(external_url).hostname));

/** Where it reaches us: an address that stands for all of this machine is none to call. */
const ownUrl = (bound: string): string => {
  const url = new URL(bound);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin;
};

/** Milliseconds between two starts of one that dies, and in which an idle one ends. */
const pauses = { first: 1_000, most: 60_000, stop: 1_000 };

const megabyte = 2 ** 20;

export const limitsOf = (config: RunnerConfig) => ({
  memory: config.runner_memory === 0 ? null : config.runner_memory * megabyte,
  processes: config.runner_processes,
  disk: config.runner_disk === 0 ? null : config.runner_disk * megabyte,
  log_limit: config.runner_log_limit * megabyte,
  idle_limit: config.runner_idle_timeout,
  cache_limit: config.runner_cache_limit * megabyte,
  keep_days: config.runner_keep_days,
  pull_policies: config.runner_pull_policy,
});

const ordersFor = async (platform: Platform, bound: string): Promise<RunnerOrders> => {
  const { config } = platform;
  const { runner_executor, runner_concurrency, runner_folder, data } = config;
  return {
    ...limitsOf(config),
    url: ownUrl(bound),
    token: await tokenOf(platform),
    executor: runner_executor,
    is_local: isForThisMachine(config),
    concurrency: runner_concurrency ?? availableParallelism(),
    folder: runner_folder ?? folderFor(data),
  };
};

/**
 * Starts it, and again whenever it dies.
 * @param bound the URL that we answer on
 * @returns what ends it
 */
export const keepBuiltInRunner = (platform: Platform, bound: string): (() => Promise<void>) => {
  const { log } = platform;
  const stopping = new AbortController();
  let running: RunnerProcess | null = null;
  const runOnce = async (): Promise<boolean> => {
    const orders = await ordersFor(platform, bound);
    if (stopping.signal.aborted) return false;
    const runner = spawnRunner(orders, (line) => log.info({ runner: line }, 'runner'));
    running = runner;
    letGo(runner);
    const { executor, notices } = await runner.ready;
    for (const notice of notices) log.warn({ notice }, 'built-in runner');
    if (executor === null) log.warn('the built-in runner can run nothing here: jobs wait for other runners');
    else log.info({ executor, pid: runner.child.pid }, 'the built-in runner takes jobs');
    await runner.ended;
    return executor !== null;
  };
  const keep = async (): Promise<void> => {
    let pause = pauses.first;
    // oxlint-disable no-await-in-loop -- one life after another
    while (!stopping.signal.aborted) {
      const began = performance.now();
      const again = await runOnce().catch((error: unknown) => {
        log.error({ err: error }, 'the built-in runner does not start');
        return true;
      });
      if (!again || stopping.signal.aborted) return;
      log.warn('the built-in runner ended, and is started again');
      pause = performance.now() - began > pauses.most ? pauses.first : Math.min(pause * 2, pauses.most);
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
    // oxlint-enable no-await-in-loop
  };
  const kept = keep();
  return async () => {
    stopping.abort();
    running?.child.stdin?.end();
    await Promise.race([kept, wait(pauses.stop)]);
  };
};
