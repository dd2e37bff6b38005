/**
 * Runs jobs. The parent process writes its orders to standard input as one line of JSON and keeps the pipe open. When
 * the pipe closes, this process finishes its running jobs, accepts no new jobs and exits.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Client, describeRunner, makeClient } from './coordinator/client.ts';
import { type ExecutorName, chooseExecutors } from './executors/choose_executor.ts';
import { type PullPolicy, pullPolicies } from './executors/pull_images.ts';
import { usualLimits } from './executors/process_limits.ts';
import type { User } from './executors/run_process.ts';
import { getSlotUser } from './executors/job_users.ts';
import { closeInheritedDescriptors } from './inherited_descriptors.ts';
import { startPool } from './poll_jobs.ts';
import { prune } from './files/prune_caches.ts';
import { endOrphans, failAbandoned, makeLeftoverCheck, setAside } from './recover_jobs.ts';

export type Orders = {
  /** Base URL of the coordinator, without `/api/v4`. */
  url: string;
  token: string;
  executor: ExecutorName;
  /** The coordinator is reachable from this machine only. */
  is_local: boolean;
  concurrency: number;
  /** Absolute path of the runner's folder; created if missing. */
  folder: string;
  version: string;
  /** Largest log of a job in bytes; the rest is cut off. */
  log_limit?: number;
  /** Seconds without output after which a script is stopped. */
  idle_limit?: number;
  /** Seconds for which an unreachable coordinator is retried. */
  patience?: number;
  /** Memory of a job in bytes; null: no limit. */
  memory?: number | null;
  /** Maximum processes of a job. */
  processes?: number;
  /** Disk space of a job's files in bytes; null: no limit. */
  disk?: number | null;
  /** Maximum bytes of all caches. */
  cache_limit?: number;
  /** Days for which unused caches and project files are kept. */
  keep_days?: number;
  /** Pull policies that jobs may request. A job without its own tries these in order. */
  pull_policies?: PullPolicy[];
};

const usual = {
  log_limit: 4 * 2 ** 20,
  idle_limit: 3_600,
  patience: 240,
  memory: usualLimits.memory,
  processes: usualLimits.processes,
  disk: 10 * 2 ** 30,
  cache_limit: 10 * 2 ** 30,
  keep_days: 30,
  pull_policies: pullPolicies.slice(0, 1),
};
/** Milliseconds between parts of a log, and between keep-alive reports. */
const pace = { part: 150, keepAlive: 400 };
/** Milliseconds from SIGTERM until the runner exits, even with jobs still ending. */
const exitTimeout = 5_000;

const log = (message: string, details: object = {}): void =>
  void process.stderr.write(`${JSON.stringify({ message, ...details })}\n`);

/** Returns an id that distinguishes runners with the same token. Creates it at the first start. */
const loadSystemId = (folder: string): string => {
  const file = join(folder, 'system_id');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const id = `r_${randomBytes(6).toString('hex')}`;
    writeFileSync(file, id, { mode: 0o600 });
    return id;
  }
};

const isRoot = process.getuid?.() === 0;

/** Creates the runner's folder. If the runner is root, other users may traverse it: its jobs run as such users. */
const makeFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isRoot) return;
  chmodSync(folder, 0o711);
  for (let path = folder; first !== undefined && path.startsWith(first); path = dirname(path)) {
    chmodSync(path, 0o711);
  }
};

/** Returns the user for jobs of the first slot; null if jobs run as the runner's own user. */
const findJobUser = async (folder: string): Promise<User | null> => {
  if (!isRoot) return null;
  const user = getSlotUser(folder, 0);
  const reached = promisify(execFile)('/bin/sh', ['-c', 'cd -- "$0"', folder], { ...user, cwd: '/' });
  return await reached.then(
    () => user,
    () => null,
  );
};

const hourMilliseconds = 3_600_000;

/** Prunes unused caches and folders now and every hour. */
const schedulePruning = ({ folder, cache_limit, keep_days }: Required<Orders>, drops: boolean): void => {
  const bounds = { cacheBytes: cache_limit, days: keep_days };
  const once = async (): Promise<void> => {
    try {
      const gone = await prune({ root: folder, drops, bounds, now: Date.now() });
      if (gone.caches + gone.folders > 0) log('unused caches and folders removed', gone);
    } catch (error) {
      log('could not remove unused caches and folders', { error: String(error) });
    }
  };
  void once();
  setInterval(() => void once(), hourMilliseconds).unref();
};

const makeRunnerClient = (orders: Orders, executor: string): Client => {
  const { url, token, folder, version } = orders;
  return makeClient({
    url,
    token,
    system_id: loadSystemId(folder),
    about: describeRunner(version, executor),
    version,
  });
};

/** Cleans up after killed runners, then chooses the executors that work on this machine. */
const prepareExecutors = async (orders: Required<Orders>, user: User | null) => {
  const { folder, executor, is_local: isLocal, memory, processes, pull_policies } = orders;
  const orphans = await endOrphans(folder);
  if (orphans > 0) log('processes of a killed runner ended', { count: orphans });
  const limits = { ...usualLimits, memory, processes };
  const parts = { requested: executor, isLocal, folder, user, limits, pullPolicies: pull_policies };
  const choice = await chooseExecutors(parts);
  if (isRoot && user === null) choice.notices.push('Jobs run as root. Start the runner as a separate user.');
  const containers = (await choice.choice?.sweep(makeLeftoverCheck(folder))) ?? 0;
  if (containers > 0) log('containers of a killed runner removed', { count: containers });
  return choice;
};

const run = async (input: Orders, ended: Promise<void>): Promise<void> => {
  const orders: Required<Orders> = { ...usual, ...input };
  const { url, folder, version, concurrency } = orders;
  makeFolder(folder);
  const user = await findJobUser(folder);
  const { choice, notices } = await prepareExecutors(orders, user);
  const report = (executor: string | null): void =>
    void process.stdout.write(`${JSON.stringify({ executor, notices })}\n`);
  if (choice === null) return report(null);
  const client = makeRunnerClient(orders, choice.name);
  // An unreachable coordinator may come back. A rejected token stays rejected.
  const verified = await client.verify().catch(() => null);
  if (verified?.status === 403) {
    notices.push('The coordinator does not know this runner.');
    return report(null);
  }
  report(choice.name);
  setAside(folder);
  const reporting = failAbandoned(folder, client, orders.patience * 1000).then((count) => {
    if (count > 0) log('jobs of a killed runner reported as failed', { count });
    schedulePruning(orders, user !== null);
  });
  const pool = startPool({
    client,
    choice,
    url,
    version,
    systemId: loadSystemId(folder),
    root: folder,
    concurrency,
    drops: user !== null,
    log,
    logLimit: orders.log_limit,
    idleLimit: orders.idle_limit,
    diskLimit: orders.disk,
    pace: { ...pace, timeout: orders.patience * 1000 },
  });
  process.on('SIGTERM', () => {
    setTimeout(() => process.exit(1), exitTimeout).unref();
    pool.abort();
  });
  await Promise.race([ended, terminated.promise]);
  await Promise.all([pool.drain(), reporting]);
  client.close();
};

const terminated = Promise.withResolvers<void>();

const main = async (): Promise<void> => {
  closeInheritedDescriptors();
  process.umask(0o077);
  process.on('SIGINT', () => undefined); // Ctrl-C in a terminal: the parent process stops this one
  process.on('SIGTERM', () => terminated.resolve());
  const ended = Promise.withResolvers<void>();
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => ended.resolve());
  const orders = Promise.withResolvers<Orders>();
  lines.once('line', (line) => orders.resolve(JSON.parse(line) as Orders));
  void Promise.race([ended.promise, terminated.promise]).then(() => orders.resolve(noOrders));
  const parsedOrders = await orders.promise;
  if (parsedOrders !== noOrders) await run(parsedOrders, ended.promise);
  process.exit(0);
};

/** Signals that the parent process ended before it sent its orders. */
const noOrders = {} as Orders;

// Jobs continue after the parent process has exited, so a broken pipe is not an error.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
await main();
