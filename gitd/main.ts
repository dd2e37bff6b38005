/**
 * Serves the repositories of one storage. The parent process writes one line of JSON to standard input and keeps it
 * open. When it closes, this process ends with every git process it started. The line `drain` lets calls in progress
 * finish first; a line of JSON brings another certificate.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Storage } from './handler_types.ts';
import { makeExec } from './exec/spawn.ts';
import { methods } from './methods.ts';
import { makePools } from './pool/pools.ts';
import { type Certificate, type ListenAt, listen } from './rpc/server.ts';
import { startHousekeeping } from './maintenance/housekeeping.ts';
import { startJanitor } from './storage/janitor.ts';
import { noteExclusiveStart } from './storage/stale_locks.ts';
import { endOrphans } from './storage/orphaned_processes.ts';
import { streams } from './streams.ts';

type Orders = {
  /** Absolute path. Nothing is created in it before an instance claims it. */
  root: string;
  secret: string;
  /** Another process owns the storage: remove no files and end no processes. */
  isGuest?: boolean;
  listen: ListenAt;
};

/** Milliseconds to stop before the process exits anyway. */
const stopTimeout = 4_000;

const log: Storage['log'] = (message, details = {}) =>
  void process.stderr.write(`${JSON.stringify({ message, ...details })}\n`);

type Signals = {
  /** `draining`: stop once idle. `ended`: stop immediately. */
  draining: Promise<void>;
  ended: Promise<void>;
  /** Called with a function that takes another certificate. */
  onRenewable: (renew: (certificate: Certificate) => void) => void;
};

const run = async (
  { root, secret, isGuest = false, listen: at }: Orders,
  { draining, ended, onRenewable }: Signals,
): Promise<void> => {
  if (typeof at === 'string') rmSync(at, { force: true });
  const exec = makeExec();
  const pools = makePools(exec);
  const orphans = isGuest ? 0 : await endOrphans(root);
  if (orphans > 0) log('processes of a gitd that was killed were ended', { count: orphans });
  if (!isGuest) noteExclusiveStart(Date.now());
  const storage: Storage = { root, exec, pools, owner: { instance: null }, log };
  const listener = await listen({ storage, secret, methods, streams }, at);
  onRenewable(listener.renew);
  process.stdout.write(`${JSON.stringify({ port: listener.port })}\n`);
  const stops = isGuest ? [] : [startJanitor(storage), startHousekeeping(storage)];
  await Promise.race([ended, draining.then(listener.drain)]);
  for (const stop of stops) stop();
  setTimeout(() => process.exit(1), stopTimeout).unref();
  await listener.stop();
  await pools.stop();
  await exec.stop();
};

const main = async (): Promise<void> => {
  process.umask(0o077);
  process.on('SIGINT', () => undefined); // Ctrl-C of a terminal: the parent process stops us
  const ended = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<void>();
  process.on('SIGTERM', () => ended.resolve());
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => ended.resolve());
  const orders = Promise.withResolvers<Orders>();
  let renew = (_certificate: Certificate): void => undefined;
  lines.once('line', (line) => {
    orders.resolve(JSON.parse(line) as Orders);
    lines.on('line', (next) => {
      if (next === 'drain') draining.resolve();
      else renew(JSON.parse(next) as Certificate);
    });
  });
  await run(await orders.promise, {
    draining: draining.promise,
    ended: ended.promise,
    onRenewable: (renewal) => void (renew = renewal),
  });
  process.exit(0);
};

// The parent may have exited: then the closed input ends us.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
await main();
