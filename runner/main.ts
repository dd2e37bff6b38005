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
import { aboutOf, makeClient } from './client.ts';
import { type ExecutorName, chooseExecutors } from './executors/choose.ts';
import { userOfSlot } from './folders.ts';
import { startPool } from './pool.ts';
import { endOrphans, failAbandoned } from './recover.ts';

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
};

const usual = { log_limit: 4 * 2 ** 20, idle_limit: 3_600, patience: 240 };
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

const canDrop = async (folder: string): Promise<boolean> => {
  const user = userOfSlot(0, isRoot);
  if (user === null) return false;
  const reached = promisify(execFile)('/bin/sh', ['-c', 'cd -- "$0"', folder], { ...user, cwd: '/' });
  return await reached.then(
    () => true,
    () => false,
  );
};

const run = async (orders: Orders, ended: Promise<void>): Promise<void> => {
  const { url, token, folder, version, concurrency } = { ...orders };
  makeFolder(folder);
  const drops = await canDrop(folder);
  const orphans = await endOrphans(folder);
  if (orphans > 0) log('processes of a runner that was killed were ended', { count: orphans });
  const parts = { wanted: orders.executor, isLocal: orders.is_local, folder, user: userOfSlot(0, drops) };
  const { choice, notices } = await chooseExecutors(parts);
  if (isRoot && !drops) notices.push('Jobs run with the rights of root: let it be a user of its own.');
  const tell = (executor: string | null): void =>
    void process.stdout.write(`${JSON.stringify({ executor, notices })}\n`);
  if (choice === null) return tell(null);
  const about = aboutOf(version, choice.name);
  const client = makeClient({ url, token, system_id: systemId(folder), about, version });
  // One that is away may come back; one that does not know us will not learn it.
  const known = await client.verify().catch(() => null);
  if (known?.status === 403) {
    notices.push('The coordinator does not know this runner.');
    return tell(null);
  }
  tell(choice.name);
  const told = failAbandoned(folder, client).then((count) => {
    if (count > 0) log('jobs of a runner that was killed were ended', { count });
  });
  const { log_limit, idle_limit, patience } = { ...usual, ...orders };
  const pool = startPool({
    client,
    choice,
    url,
    version,
    root: folder,
    concurrency,
    drops,
    log,
    logLimit: log_limit,
    idleLimit: idle_limit,
    pace: { ...pace, patience: patience * 1000 },
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
