/**
 * The keeper of the repositories of one storage. Whoever starts it writes one line of JSON to its standard input
 * and keeps that open: when it closes, this process ends, and every git that it started with it. The line `drain`
 * lets what is in progress finish first.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Storage } from './context.ts';
import { makeExec } from './exec/spawn.ts';
import { methods } from './methods.ts';
import { makePools } from './pool/pools.ts';
import { listen } from './rpc/server.ts';
import { startHousekeeping } from './storage/housekeeping.ts';
import { startJanitor } from './storage/janitor.ts';
import { weAreAlone } from './storage/locks.ts';
import { endOrphans } from './storage/orphans.ts';
import { streams } from './streams.ts';

type Orders = {
  /** Absolute. Nothing is made in it before it was claimed for an instance. */
  root: string;
  secret: string;
  /** Another process keeps the storage: nothing is tidied, and nothing that was left is ended. */
  readOnly?: boolean;
  /** Path of a Unix socket, or an address. */
  listen: string | { host: string; port: number };
};

/** Milliseconds for everything to end. */
const patience = 4_000;

const log: Storage['log'] = (message, details = {}) =>
  void process.stderr.write(`${JSON.stringify({ message, ...details })}\n`);

type Signals = {
  /** Resolves when this process is to end as soon as it is idle, and when it is to end at once. */
  draining: Promise<void>;
  ended: Promise<void>;
};

const run = async (
  { root, secret, readOnly = false, listen: at }: Orders,
  { draining, ended }: Signals,
): Promise<void> => {
  if (typeof at === 'string') rmSync(at, { force: true });
  const exec = makeExec();
  const pools = makePools(exec);
  const orphans = readOnly ? 0 : await endOrphans(root);
  if (orphans > 0) log('processes of a gitd that was killed were ended', { count: orphans });
  if (!readOnly) weAreAlone(Date.now());
  const storage: Storage = { root, exec, pools, owner: { instance: null }, log };
  const listener = await listen({ storage, secret, methods, streams }, at);
  process.stdout.write(`${JSON.stringify({ port: listener.port })}\n`);
  const stops = readOnly ? [] : [startJanitor(storage), startHousekeeping(storage)];
  await Promise.race([ended, draining.then(listener.drain)]);
  for (const stop of stops) stop();
  setTimeout(() => process.exit(1), patience).unref();
  await listener.stop();
  await pools.stop();
  await exec.stop();
};

const main = async (): Promise<void> => {
  process.umask(0o077);
  process.on('SIGINT', () => undefined); // of a terminal: whoever started us ends us
  const ended = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<void>();
  process.on('SIGTERM', () => ended.resolve());
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => ended.resolve());
  const orders = Promise.withResolvers<Orders>();
  lines.once('line', (line) => orders.resolve(JSON.parse(line) as Orders));
  lines.on('line', (line) => {
    if (line === 'drain') draining.resolve();
  });
  await run(await orders.promise, { draining: draining.promise, ended: ended.promise });
  process.exit(0);
};

// Whoever reads us may have gone: then we go, too, by the end of the input.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
await main();
