/**
 * Keeps a `gitd` for a storage of this machine: started at its first use, started again when it died, gone with us
 * however we end (it holds the other end of a pipe of ours).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Place } from './dial.ts';
import { type GitFailure, gone } from './failure.ts';

export type KeeperParts = {
  /** Absolute. */
  root: string;
  /** Where it listens: a folder for its Unix socket, or an address. */
  listen: { folder: string } | { host: string; port: number };
  secret: string;
  /** It only looks, beside the gitd of a service. */
  readOnly?: boolean;
  /** Told each line that it logs. */
  onLine: (line: string) => void;
};

/** The connection adds the instance id. */
export type KeptPlace = Omit<Place, 'instance'>;

export type Keeper = {
  /** Starts it where it does not run. @throws GitFailure `unavailable` */
  place: () => Promise<KeptPlace>;
  /** Resolves when the present one has ended. */
  ended: () => Promise<void>;
  /** Lets calls and transfers finish; resolves when it has ended, if only by `stop`. */
  drain: () => Promise<void>;
  /** Ends it at once. */
  stop: () => Promise<void>;
};

/** Bytes of a socket's path that every system takes (macOS: 104 with the end mark). */
const longestSocketPath = 100;
/** Milliseconds. One that dies sooner than this is not started again before as much has passed. */
const leastLife = 1_000;
const startPatience = 15_000;
const stopPatience = 5_000;

/** A young heap of two megabytes: its work is done by others, it only hands bytes on. */
const nodeFlags = [
  '--max-semi-space-size=2',
  '--external-memory-accounted-in-global-limit',
  '--disable-proto=delete',
];

/** What we were told to load first, it loads, too: that is how tests watch both. */
const preloads = (): string[] => process.execArgv.filter((flag) => flag.startsWith('--import='));

/** What was built stands in `dist/`, beside the bundle that this is then a part of. */
const programPath = (): string =>
  import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '../../gitd/main.ts')
    : join(import.meta.dirname, '../gitd.mjs');

const socketPattern = /^[0-9a-f]{12}\.sock$/;

export type SocketPlace = {
  path: string;
  /** Made for this socket alone, and removed with it. */
  folder: string | null;
};

/** A path for a socket that nobody else can reach or foresee. */
export const socketPlace = (folder: string, name: string): SocketPlace => {
  const path = join(folder, `${name}.sock`);
  if (Buffer.byteLength(path) <= longestSocketPath) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    // Left by one that was killed. Another cannot be alive: the folder is ours alone.
    for (const file of readdirSync(folder)) if (socketPattern.test(file)) rmSync(join(folder, file));
    return { path, folder: null };
  }
  const short = [tmpdir(), '/tmp'].find((one) => Buffer.byteLength(one) <= longestSocketPath - 40) ?? '/tmp';
  const own = mkdtempSync(join(short, 'gantry-git-'));
  return { path: join(own, `${name}.sock`), folder: own };
};

const environment = (): NodeJS.ProcessEnv => {
  const kept = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
};

const firstLine = async (stdout: Readable): Promise<{ port: number }> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = createInterface({ input: stdout });
  const timer = setTimeout(() => reject(gone('gitd does not start')), startPatience);
  lines.once('line', resolve);
  lines.once('close', () => reject(gone('gitd ended while it started')));
  try {
    return JSON.parse(await promise) as { port: number };
  } finally {
    clearTimeout(timer);
  }
};

type Running = { place: KeptPlace; child: ChildProcess; ended: Promise<void>; since: number };

const untilEnded = async (child: ChildProcess, socket: SocketPlace | null): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.once('error', () => resolve());
  await promise;
  if (socket === null) return;
  rmSync(socket.path, { force: true });
  if (socket.folder !== null) rmSync(socket.folder, { recursive: true, force: true });
};

const start = async (parts: KeeperParts, random: string): Promise<Running> => {
  const { root, listen, secret, readOnly, onLine } = parts;
  const socket = 'folder' in listen ? socketPlace(listen.folder, random) : null;
  const child = spawn(process.execPath, [...nodeFlags, ...preloads(), programPath()], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = untilEnded(child, socket);
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify({ root, secret, readOnly, listen: socket?.path ?? listen })}\n`);
  createInterface({ input: child.stderr }).on('line', onLine);
  try {
    const { port } = await firstLine(child.stdout);
    // It may go on for as long as we do, but not keep us from ending.
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr])
      (pipe as unknown as { unref: () => void }).unref();
    const address = 'folder' in listen ? { path: socket?.path ?? '' } : { host: listen.host, port };
    return { place: { address, secret }, child, ended, since: performance.now() };
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
};

const isAlive = ({ child }: Running): boolean => child.exitCode === null && child.signalCode === null;

/** @param random a new name of 12 hexadecimal digits each time */
export const keepGitd = (parts: KeeperParts, random: () => string): Keeper => {
  let running: Promise<Running> | null = null;
  let restedUntil = 0;
  let stopped = false;
  const refusal = (): GitFailure | null => {
    if (stopped) return gone('the service is stopping');
    return performance.now() < restedUntil ? gone('gitd died right after its start') : null;
  };
  const begin = (): Promise<Running> => {
    const refused = refusal();
    if (refused !== null) return Promise.reject(refused);
    const began = performance.now();
    const next = start(parts, random());
    const over = (): void => {
      if (running === next) running = null;
      if (performance.now() - began < leastLife) restedUntil = performance.now() + leastLife;
    };
    next.then(async ({ ended }) => await ended.then(over), over);
    running = next;
    return next;
  };
  /** Starts it no more; answers the present one. */
  const finish = async (): Promise<Running | null> => {
    stopped = true;
    return (await running?.catch(() => null)) ?? null;
  };
  const drain = async (): Promise<void> => {
    const last = await finish();
    last?.child.stdin?.write('drain\n');
    await last?.ended;
  };
  const stop = async (): Promise<void> => {
    const last = await finish();
    if (last === null) return;
    last.child.stdin?.end();
    last.child.ref();
    const timer = setTimeout(() => last.child.kill('SIGKILL'), stopPatience);
    await last.ended;
    clearTimeout(timer);
  };
  return {
    place: async () => {
      const last = running;
      const present = await (last ?? begin());
      if (isAlive(present)) return present.place;
      if (running === last) running = null; // else another call has begun what this one was about to
      return (await (running ?? begin())).place;
    },
    ended: async () => await (await running)?.ended,
    drain,
    stop,
  };
};
