/** Runs a process, collects its output, and ends it with all its descendants. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

export type User = { uid: number; gid: number };

export type Ended = { code: number | null; signal: NodeJS.Signals | null };

/** Reason for stopping a run: `abort` kills immediately, all other reasons allow a short cleanup. */
export type StopReason = 'cancel' | 'abort' | 'timeout' | 'idle' | 'disk';

export type Start = {
  words: readonly string[];
  environment: Record<string, string>;
  cwd: string;
  user: User | null;
  onOutput: (chunk: Buffer) => void;
  /** Additional pipes from descriptor 3 on. */
  pipes?: number;
  /** Standard input; default: empty. */
  input?: string;
};

export type Tree = {
  child: ChildProcess;
  /** Sends SIGTERM to all processes. */
  terminate: () => void;
  /** Kills all processes; none is left when it resolves. */
  killTree: () => Promise<void>;
};

/** Milliseconds between SIGTERM and SIGKILL: a canceled job ends within a second. */
const grace = 400;
/** Milliseconds to wait for the last output of killed processes. */
const lastBytes = 1_000;

export const startChild = (start: Start): ChildProcess => {
  const { words, environment, cwd, user, onOutput, pipes = 0, input } = start;
  const [program = '', ...args] = words;
  const stdio: StdioOptions = [
    input === undefined ? 'ignore' : 'pipe',
    'pipe',
    'pipe',
    ...Array.from({ length: pipes }, () => 'pipe' as const),
  ];
  const child = spawn(program, args, { env: environment, cwd, stdio, detached: true, ...user });
  for (const stream of [child.stdout, child.stderr] as Readable[]) {
    stream.on('data', onOutput);
    stream.on('error', () => undefined);
  }
  child.stdin?.on('error', () => undefined); // it has ended without reading
  child.stdin?.end(input);
  return child;
};

const waitForExit = async (child: ChildProcess): Promise<Ended> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  child.once('error', reject);
  child.once('exit', (code, signal) => resolve({ code, signal }));
  return await promise;
};

/** Runs a process tree; resolves when all of it has ended. @throws if it does not start */
export const runTree = async ({ child, terminate, killTree }: Tree, stop: AbortSignal): Promise<Ended> => {
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const exited = waitForExit(child);
  let timer: NodeJS.Timeout | undefined;
  const onStop = (): void => {
    if (stop.reason === 'abort') return void killTree();
    terminate();
    timer = setTimeout(() => void killTree(), grace);
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    const ended = await exited;
    await killTree();
    await Promise.race([closed, wait(lastBytes, undefined, { ref: false })]);
    return ended;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
};
