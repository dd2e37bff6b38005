/**
 * Runs jobs. Whoever starts it writes one line of JSON to its standard input and keeps that open: when it closes,
 * this process takes no more jobs, and ends when those that it has are done; SIGTERM ends them.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Client, aboutOf, makeClient } from './client.ts';
import { type ExecutorName, chooseExecutors } from './executors/choose.ts';
import { type PullPolicy, pullPolicies } from './executors/images.ts';
import { usualLimits } from './executors/limits.ts';
import type { User } from './executors/run.ts';
import { userOfSlot } from './executors/users.ts';
import { closeInheritedDescriptors } from './inherited_descriptors.ts';
import { startPool } from './pool.ts';
import { prune } from './prune.ts';
import { endOrphans, failAbandoned, leftBehind, setAside } from './recover.ts';

export type Orders = {
  /** Of the coordinator, without `/api/v4`. */
  url: string;
  token: string;
  executor: ExecutorName;
  /** Nobody but this machine reaches the coordinator. */
  is_local: boolean;
  concurrency: number;
  /** Absolute; made where it is missing. */
  folder: string;
  version: string;
  /** Bytes of a log. */
  log_limit?: number;
  /** Seconds: of a script's silence, and for which an unreachable coordinator is waited for. */
  idle_limit?: number;
  patience?: number;
  /** Bytes of memory, and processes, of a job; null: as much as there is. */
  memory?: number | null;
  processes?: number;
  /** Bytes of a job's files; null: as many as the disk takes. */
  disk?: number | null;
  /** Bytes of all caches, and days after their last use for which they and projects' files are kept. */
  cache_limit?: number;
  keep_days?: number;
  /** What jobs may ask for; where one does not, they are tried in this order. */
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
/** Milliseconds. */
const pace = { part: 150, keepAlive: 400 };
/** Milliseconds in which a runner that is told to end does. */
const lastPatience = 5_000;

const log = (message: string, details: object = {}): void =>
  void process.stderr.write(`${JSON.stringify({ message, ...details })}\n`);

/** Two runners with one token are told apart by it. */
const systemId = (folder: string): string => {
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

/** With the rights of root, jobs run as others, who have to get through. */
const makeFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isRoot) return;
  chmodSync(folder, 0o711);
  for (let path = folder; first !== undefined && path.startsWith(first); path = dirname(path)) {
    chmodSync(path, 0o711);
  }
};

/** Null: jobs run as we do. */
const canDrop = async (folder: string): Promise<User | null> => {
  if (!isRoot) return null;
  const user = userOfSlot(folder, 0);
  const reached = promisify(execFile)('/bin/sh', ['-c', 'cd -- "$0"', folder], { ...user, cwd: '/' });
  return await reached.then(
    () => user,
    () => null,
  );
};

const hour = 3_600_000;

/** Now, and each hour. */
const keepPruned = ({ folder, cache_limit, keep_days }: Required<Orders>, drops: boolean): void => {
  const bounds = { cacheBytes: cache_limit, days: keep_days };
  const once = async (): Promise<void> => {
    try {
      const gone = await prune({ root: folder, drops, bounds, now: Date.now() });
      if (gone.caches + gone.folders > 0) log('what was not used for long was removed', gone);
    } catch (error) {
      log('what is old could not be removed', { error: String(error) });
    }
  };
  void once();
  setInterval(() => void once(), hour).unref();
};

const clientOf = (orders: Orders, executor: string): Client => {
  const { url, token, folder, version } = orders;
  return makeClient({ url, token, system_id: systemId(folder), about: aboutOf(version, executor), version });
};

/** What works here, when all is gone that runners before us left. */
const lookAround = async (orders: Required<Orders>, user: User | null) => {
  const { folder, executor: wanted, is_local: isLocal, memory, processes, pull_policies } = orders;
  const orphans = await endOrphans(folder);
  if (orphans > 0) log('processes of a runner that was killed were ended', { count: orphans });
  const limits = { ...usualLimits, memory, processes };
  const parts = { wanted, isLocal, folder, user, limits, pullPolicies: pull_policies };
  const found = await chooseExecutors(parts);
  if (isRoot && user === null)
    found.notices.push('Jobs run with the rights of root: let it be a user of its own.');
  const containers = (await found.choice?.sweep(leftBehind(folder))) ?? 0;
  if (containers > 0) log('containers of a runner that was killed were removed', { count: containers });
  return found;
};

const run = async (given: Orders, ended: Promise<void>): Promise<void> => {
  const orders: Required<Orders> = { ...usual, ...given };
  const { url, folder, version, concurrency } = orders;
  makeFolder(folder);
  const user = await canDrop(folder);
  const { choice, notices } = await lookAround(orders, user);
  const tell = (executor: string | null): void =>
    void process.stdout.write(`${JSON.stringify({ executor, notices })}\n`);
  if (choice === null) return tell(null);
  const client = clientOf(orders, choice.name);
  // One that is away may come back; one that does not know us will not learn it.
  const known = await client.verify().catch(() => null);
  if (known?.status === 403) {
    notices.push('The coordinator does not know this runner.');
    return tell(null);
  }
  tell(choice.name);
  setAside(folder);
  const told = failAbandoned(folder, client, orders.patience * 1000).then((count) => {
    if (count > 0) log('jobs of a runner that was killed were ended', { count });
    keepPruned(orders, user !== null);
  });
  const pool = startPool({
    client,
    choice,
    url,
    version,
    systemId: systemId(folder),
    root: folder,
    concurrency,
    drops: user !== null,
    log,
    logLimit: orders.log_limit,
    idleLimit: orders.idle_limit,
    diskLimit: orders.disk,
    pace: { ...pace, patience: orders.patience * 1000 },
  });
  process.on('SIGTERM', () => {
    setTimeout(() => process.exit(1), lastPatience).unref();
    pool.abort();
  });
  await Promise.race([ended, terminated.promise]);
  await Promise.all([pool.drain(), told]);
  client.close();
};

const terminated = Promise.withResolvers<void>();

const main = async (): Promise<void> => {
  closeInheritedDescriptors();
  process.umask(0o077);
  process.on('SIGINT', () => undefined); // of a terminal: whoever started us ends us
  process.on('SIGTERM', () => terminated.resolve());
  const ended = Promise.withResolvers<void>();
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => ended.resolve());
  const orders = Promise.withResolvers<Orders>();
  lines.once('line', (line) => orders.resolve(JSON.parse(line) as Orders));
  void Promise.race([ended.promise, terminated.promise]).then(() => orders.resolve(neverAsked));
  const given = await orders.promise;
  if (given !== neverAsked) await run(given, ended.promise);
  process.exit(0);
};

/** Whoever started us ended before he said what is to be done. */
const neverAsked = {} as Orders;

// Whoever reads us may have gone: jobs go on.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
await main();
