/** One run of a script: started, heard, and ended with all that it started. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

export type User = { uid: number; gid: number };

export type Ended = { code: number | null; signal: NodeJS.Signals | null };

/** Why a run is ended: `abort` at once, all others may clean up for a moment. */
export type Why = 'cancel' | 'abort' | 'timeout' | 'idle' | 'disk';

export type Start = {
  words: readonly string[];
  environment: Record<string, string>;
  cwd: string;
  user: User | null;
  onOutput: (chunk: Buffer) => void;
  /** Pipes of its own, from descriptor 3 on. */
  pipes?: number;
  /** What it reads; else nothing. */
  input?: string;
};

export type Tree = {
  child: ChildProcess;
  /** Asks all of them to end. */
  soften: () => void;
  /** Ends all of them: none is left when it resolves. */
  crush: () => Promise<void>;
};

/** Milliseconds between asking and forcing: a cancelled job is over within a second. */
const grace = 400;
/** Milliseconds in which the last bytes of those that were killed arrive. */
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

const exitOf = async (child: ChildProcess): Promise<Ended> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  child.once('error', reject);
  child.once('exit', (code, signal) => resolve({ code, signal }));
  return await promise;
};

/** Resolves when nothing of it is left. @throws where it does not start */
export const runTree = async ({ child, soften, crush }: Tree, stop: AbortSignal): Promise<Ended> => {
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const exited = exitOf(child);
  let timer: NodeJS.Timeout | undefined;
  const onStop = (): void => {
    if (stop.reason === 'abort') return void crush();
    soften();
    timer = setTimeout(() => void crush(), grace);
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    const ended = await exited;
    await crush();
    await Promise.race([closed, wait(lastBytes, undefined, { ref: false })]);
    return ended;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
};
