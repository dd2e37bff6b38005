/** Starts git processes. The only place in gitd that does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import {
  type Duplex,
  type Readable,
  type Writable,
  getDefaultHighWaterMark,
  setDefaultHighWaterMark,
} from 'node:stream';
import { GitError } from '../git_error.ts';
import type { StorageLoad } from '../protocol.ts';
import type { Argument } from './arguments.ts';
import { type RunVariables, makeEnvironment } from './environment.ts';
import { findGit } from './find_git.ts';
import { limitCommand } from './prlimit.ts';
import { type Share, type SlotName, makeAllSlots } from './slots.ts';
import { superviseGroup } from './supervise_group.ts';

export type Command =
  | 'archive'
  | 'blame'
  | 'cat-file'
  | 'clone'
  | 'commit-graph'
  | 'count-objects'
  | 'diff'
  | 'diff-tree'
  | 'fetch'
  | 'for-each-ref'
  | 'fsck'
  | 'grep'
  | 'index-pack'
  | 'init'
  | 'log'
  | 'ls-tree'
  | 'merge-base'
  | 'merge-tree'
  | 'multi-pack-index'
  | 'pack-objects'
  | 'pack-refs'
  | 'patch-id'
  | 'prune'
  | 'receive-pack'
  | 'repack'
  | 'rev-list'
  | 'shortlog'
  | 'unpack-objects'
  | 'update-ref'
  | 'upload-pack'
  | 'version'
  /** For example a compressor of archives. */
  | 'bzip2';

export type GitRun = {
  command: Command;
  args: readonly Argument[];
  /** The repository; null: none. */
  dir: string | null;
  /** Kind of slot it takes; null: none, for pooled processes. */
  slot: SlotName | null;
  /** Shares that its slot counts against. */
  shares?: readonly Share[];
  /** Time limit; null: none. */
  seconds: number | null;
  /** Kills the process when aborted. */
  signal?: AbortSignal | undefined;
  variables?: RunVariables;
  /** Configuration in addition to the fixed one. */
  config?: readonly (readonly [key: string, value: string])[];
  /** Working directory; default: `/`. */
  cwd?: string;
  /** Opens a duplex pipe on descriptor 3, which hooks inherit. */
  withChannel?: boolean;
  /** Disables output buffering, for pooled processes that do not flush. */
  unbuffered?: boolean;
  /** Stops reading as soon as a stream is paused, not only after another 64 KB (`gather_output.ts`). */
  stopsAtPause?: boolean;
};

export type SlotRequest = Pick<GitRun, 'slot' | 'shares' | 'signal'>;

export type ExitStatus = { code: number | null; signal: NodeJS.Signals | null };

export type GitProcess = {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** The pipe on descriptor 3, with `withChannel`. */
  channel: Duplex | null;
  /** Returns the end of its standard error. */
  stderrTail: () => string;
  /** Resolves when the process and its pipes are closed. Rejects with the reason it was killed for. */
  ended: Promise<ExitStatus>;
  /** True if it was asked to end. */
  isKilled: () => boolean;
  /** Ends its process group: SIGTERM first, then SIGKILL. */
  kill: (why?: GitError) => void;
};

export type Exec = {
  /** Starts git. @throws GitError `unavailable` when too many processes are waiting */
  start: (run: GitRun) => Promise<GitProcess>;
  /**
   * Runs git to its end and collects its output.
   * @throws GitError `too_large` past `maxOutput` (default 32 MiB), `limit` past the time; `internal` for an exit
   * code that is not in `codes` (default: 0)
   */
  run: (
    run: GitRun & { input?: Uint8Array | string; maxOutput?: number; codes?: readonly number[] },
  ) => Promise<{ code: number; stdout: Buffer; stderr: string }>;
  /**
   * Takes a slot for work of a pooled process; returns the function that releases it.
   * @throws GitError `unavailable` when too many processes are waiting
   */
  takeSlot: (request: SlotRequest) => Promise<() => void>;
  /** Absolute path of git. */
  git: string;
  measureLoad: () => StorageLoad;
  /** Kills all running processes. */
  stop: () => Promise<void>;
};

/** Bytes kept of standard error. */
const stderrTailLength = 16 * 1024;
const defaultMaxOutput = 32 * 2 ** 20;
const lowerPriority = (pid: number, priority: number): void => {
  try {
    setPriority(pid, priority);
  } catch {
    // The process has ended or the system refused; priority is optional.
  }
};

/** Collects the end of a stream. */
const collectTail = (stream: Readable): (() => string) => {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => void (text = (text + chunk).slice(-stderrTailLength)));
  return () => text.trim();
};

type Starter = { git: string; environment: ReturnType<typeof makeEnvironment>; running: Set<GitProcess> };

const buildCommandLine = (git: string, run: GitRun): string[] => {
  if (run.command === 'bzip2') return [run.command, ...run.args];
  const where = run.dir === null ? [] : [`--git-dir=${run.dir}`];
  const args = [git, ...where, run.command, ...run.args];
  return run.unbuffered === true ? ['stdbuf', '-o0', ...args] : args;
};

/** Temporary errors: the system has no more processes, descriptors or memory at the moment. */
const exhausted = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

const startFailure = ({ code = '', message }: NodeJS.ErrnoException): GitError =>
  new GitError(exhausted.has(code) ? 'unavailable' : 'internal', `git does not start: ${message}`);

/** Runs `make` so that the streams which it creates buffer no more than these bytes. */
const withHighWaterMark = <T>(bytes: number, make: () => T): T => {
  const usual = getDefaultHighWaterMark(false);
  setDefaultHighWaterMark(false, bytes);
  try {
    return make();
  } finally {
    setDefaultHighWaterMark(false, usual);
  }
};

const spawnGit = ({ git, environment }: Starter, run: GitRun): ChildProcess => {
  const [program = git, ...args] = [...limitCommand(run), ...buildCommandLine(git, run)];
  return spawn(program, args, {
    cwd: run.cwd ?? '/',
    env: environment(run.variables, run.config),
    stdio: run.withChannel === true ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    // Starts a separate process group, so that its children are killed with it.
    detached: true,
  });
};

const untilClosed = async (child: ChildProcess): Promise<ExitStatus> => {
  const { promise, resolve, reject } = Promise.withResolvers<ExitStatus>();
  child.once('error', (error) => reject(startFailure(error)));
  child.once('close', (code, signal) => resolve({ code, signal }));
  return await promise;
};

/** @throws GitError without descriptors for the pipes of the process */
const startWithPipes = (starter: Starter, run: GitRun) => {
  let child: ChildProcess;
  try {
    const start = (): ChildProcess => spawnGit(starter, run);
    child = run.stopsAtPause === true ? withHighWaterMark(1, start) : start();
  } catch (error) {
    throw startFailure(error as NodeJS.ErrnoException);
  }
  const closed = untilClosed(child);
  if ((child.stdin as Writable | null | undefined) === undefined) {
    closed.catch(() => undefined);
    throw new GitError('unavailable', 'git does not start: no descriptors are available for its pipes');
  }
  return { child, closed };
};

const startProcess = (starter: Starter, run: GitRun): GitProcess => {
  const { child, closed } = startWithPipes(starter, run);
  const pid = child.pid ?? 0;
  if (pid > 0) lowerPriority(pid, run.slot === 'maintenance' ? 19 : 10);
  const [stdin, stdout, stderr] = [child.stdin, child.stdout, child.stderr] as [Writable, Readable, Readable];
  stdin.on('error', () => undefined); // it ended before it read everything; its exit code says why
  const channel = (child.stdio[3] ?? null) as Duplex | null;
  channel?.on('error', () => undefined);
  const supervision = superviseGroup(child, run);
  const end = async (): Promise<ExitStatus> => {
    try {
      const status = await closed;
      const reason = supervision.getReason();
      if (reason === null) return status;
      supervision.killRest();
      throw reason;
    } finally {
      supervision.end();
      starter.running.delete(process);
    }
  };
  const ended = end();
  ended.catch(() => undefined); // callers that await it still get the rejection
  const process: GitProcess = {
    pid,
    stdin,
    stdout,
    stderr,
    channel,
    stderrTail: collectTail(stderr),
    ended,
    isKilled: () => supervision.getReason() !== null,
    kill: supervision.kill,
  };
  starter.running.add(process);
  return process;
};

const collect = async (
  process: GitProcess,
  run: Parameters<Exec['run']>[0],
): Promise<{ code: number; stdout: Buffer; stderr: string }> => {
  const { maxOutput = defaultMaxOutput, codes = [0] } = run;
  const chunks: Buffer[] = [];
  let size = 0;
  process.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxOutput) chunks.push(chunk);
    else process.kill(new GitError('too_large', `git ${run.command} answered more than ${maxOutput} bytes`));
  });
  process.stdin.end(run.input ?? '');
  const { code, signal } = await process.ended;
  if (code === null || !codes.includes(code)) {
    // Killed by something other than gitd, such as the kernel's OOM killer.
    const kind = signal === null ? 'internal' : 'unavailable';
    throw new GitError(kind, `git ${run.command} ended with ${code ?? signal}: ${process.stderrTail()}`);
  }
  return { code, stdout: Buffer.concat(chunks, size), stderr: process.stderrTail() };
};

export const makeExec = (git: string = findGit()): Exec => {
  const starter: Starter = { git, environment: makeEnvironment(git), running: new Set() };
  const slots = makeAllSlots();
  let stopped = false;
  const takeSlot = async ({ slot, signal, shares }: SlotRequest): Promise<() => void> =>
    slot === null ? () => undefined : await slots[slot].take(signal, shares);
  const start = async (run: GitRun): Promise<GitProcess> => {
    run.signal?.throwIfAborted();
    const releaseSlot = await takeSlot(run);
    try {
      run.signal?.throwIfAborted();
      if (stopped) throw new GitError('unavailable', 'the storage is stopping');
      const process = startProcess(starter, run);
      void process.ended.catch(() => undefined).finally(releaseSlot);
      return process;
    } catch (error) {
      releaseSlot();
      throw error;
    }
  };
  return {
    start,
    run: async (run) => await collect(await start(run), run),
    takeSlot,
    git,
    measureLoad: () => ({
      slots: {
        interactive: slots.interactive.count(),
        transfer: slots.transfer.count(),
        maintenance: slots.maintenance.count(),
      },
      processes: starter.running.size,
    }),
    stop: async () => {
      stopped = true;
      const open = [...starter.running];
      for (const process of open) process.kill();
      await Promise.allSettled(open.map(async ({ ended }) => await ended));
    },
  };
};
