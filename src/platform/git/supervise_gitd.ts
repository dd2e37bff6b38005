/**
 * Supervises a `gitd` process for a storage of this machine: starts it at first use and restarts it when it dies. It
 * exits with the service, however that ends, because it holds the other end of a pipe.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { GitdAddress } from './dial.ts';
import { type GitFailure, storageUnavailable } from './failure.ts';
import { untilStuck } from './start_timeout.ts';
import { programPath } from '../package_files.ts';

/** Certificate chain and private key, as PEM. */
export type Certificate = { cert: string; key: string };

export type SupervisorOptions = {
  /** Absolute path. */
  root: string;
  /** Where it listens: a folder for its Unix socket, or an address. */
  listen: { folder: string } | { host: string; port: number };
  /** Certificate for TLS at an address; without it, nothing is encrypted. */
  certificate?: Certificate | undefined;
  secret: string;
  /** Runs alongside the gitd of a running service, which owns the storage. */
  isGuest?: boolean;
  /** Called with each line that it logs. */
  onLine: (line: string) => void;
};

/** A storage's address without the instance id, which the connection adds. */
export type GitdLocation = Omit<GitdAddress, 'instance'>;

export type GitdSupervisor = {
  /**
   * Returns the storage's address, and starts gitd if necessary.
   * @throws GitFailure `unavailable`
   */
  place: () => Promise<GitdLocation>;
  /** Resolves when the current process has ended. */
  ended: () => Promise<void>;
  /** Uses another certificate for new connections. */
  renew: (certificate: Certificate) => Promise<void>;
  /** Lets calls and transfers finish. Resolves when the process has ended, possibly by `stop`. */
  drain: () => Promise<void>;
  /** Kills it immediately. */
  stop: () => Promise<void>;
};

/** Maximum bytes of a socket's path on every system (macOS: 104 including the terminator). */
const maxSocketPathBytes = 100;
/** Milliseconds. If gitd dies sooner than this, its restart waits as long. */
const leastLife = 1_000;
const stopTimeout = 5_000;

/** A young generation of two megabytes suffices: gitd mostly passes bytes on. */
const nodeFlags = [
  '--max-semi-space-size=2',
  '--external-memory-accounted-in-global-limit',
  '--disable-proto=delete',
];

/** Modules preloaded into this process are preloaded into gitd, too, so that tests can observe both. */
const preloads = (): string[] => process.execArgv.filter((flag) => flag.startsWith('--import='));

const socketPattern = /^[0-9a-f]{12}\.sock$/;

export type SocketLocation = {
  path: string;
  /** Folder created for this socket and removed with it. */
  folder: string | null;
};

/** Chooses a socket path that other users can neither access nor guess. */
export const chooseSocketPath = (folder: string, name: string): SocketLocation => {
  const path = join(folder, `${name}.sock`);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    // Left by a killed gitd. No other gitd can be running, because only this process uses the folder.
    for (const file of readdirSync(folder)) if (socketPattern.test(file)) rmSync(join(folder, file));
    return { path, folder: null };
  }
  const short = [tmpdir(), '/tmp'].find((one) => Buffer.byteLength(one) <= maxSocketPathBytes - 40) ?? '/tmp';
  const own = mkdtempSync(join(short, 'gantry-git-'));
  return { path: join(own, `${name}.sock`), folder: own };
};

const environment = (): NodeJS.ProcessEnv => {
  const kept = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE', 'BENCH_WITHOUT_CACHES'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
};

const firstLine = async (stdout: Readable, pid: number | undefined): Promise<{ port: number }> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = createInterface({ input: stdout });
  const started = new AbortController();
  const giveUp = (): void => reject(storageUnavailable('gitd did not start in time'));
  untilStuck(pid, started.signal).then(giveUp, () => undefined);
  lines.once('line', resolve);
  lines.once('close', () => reject(storageUnavailable('gitd exited during startup')));
  try {
    return JSON.parse(await promise) as { port: number };
  } finally {
    started.abort();
  }
};

type Running = { place: GitdLocation; child: ChildProcess; ended: Promise<void>; since: number };

const untilEnded = async (child: ChildProcess, socket: SocketLocation | null): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.once('error', () => resolve());
  await promise;
  if (socket === null) return;
  rmSync(socket.path, { force: true });
  if (socket.folder !== null) rmSync(socket.folder, { recursive: true, force: true });
};

const start = async (parts: SupervisorOptions, random: string): Promise<Running> => {
  const { root, listen, certificate, secret, isGuest, onLine } = parts;
  const socket = 'folder' in listen ? chooseSocketPath(listen.folder, random) : null;
  const child = spawn(process.execPath, [...nodeFlags, ...preloads(), programPath('gitd/main.ts', 'gitd')], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = untilEnded(child, socket);
  child.stdin.on('error', () => undefined);
  const at = socket?.path ?? { ...listen, certificate };
  child.stdin.write(`${JSON.stringify({ root, secret, isGuest, listen: at })}\n`);
  createInterface({ input: child.stderr }).on('line', onLine);
  try {
    const { port } = await firstLine(child.stdout, child.pid);
    // The child must not keep the service alive.
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr])
      (pipe as unknown as { unref: () => void }).unref();
    const isTls = certificate !== undefined;
    const address = 'folder' in listen ? { path: socket?.path ?? '' } : { host: listen.host, port, isTls };
    return { place: { address, secret, ca: null }, child, ended, since: performance.now() };
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
};

const isAlive = ({ child }: Running): boolean => child.exitCode === null && child.signalCode === null;

/**
 * Supervises a gitd.
 * @param random returns 12 new hexadecimal digits at each call
 */
export const superviseGitd = (options: SupervisorOptions, random: () => string): GitdSupervisor => {
  let parts = options;
  let running: Promise<Running> | null = null;
  let restedUntil = 0;
  let stopped = false;
  const refusal = (): GitFailure | null => {
    if (stopped) return storageUnavailable('the service is stopping');
    return performance.now() < restedUntil ? storageUnavailable('gitd exited right after its start') : null;
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
  /** Prevents restarts; returns the current process. */
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
    const timer = setTimeout(() => last.child.kill('SIGKILL'), stopTimeout);
    await last.ended;
    clearTimeout(timer);
  };
  return {
    place: async () => {
      const last = running;
      const present = await (last ?? begin());
      if (isAlive(present)) return present.place;
      if (running === last) running = null; // otherwise another call has started a new process already
      return (await (running ?? begin())).place;
    },
    ended: async () => await (await running)?.ended,
    renew: async (certificate) => {
      parts = { ...parts, certificate };
      (await running)?.child.stdin?.write(`${JSON.stringify(certificate)}\n`);
    },
    drain,
    stop,
  };
};
