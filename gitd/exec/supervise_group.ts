/** Ends the process group of a git process: on request, past its time limit, and when its signal aborts. */
import type { Readable } from 'node:stream';
import { GitError } from '../git_error.ts';

/** Milliseconds between SIGTERM, on which git removes its lock files, and SIGKILL. */
const killDelay = 3_000;

/** Milliseconds after a process ended until its remaining children are killed: they would keep reading its input. */
const orphanDelay = 500;

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
};

/** The part of a child process that is needed; `spawn.ts` alone starts processes. */
type Child = {
  readonly pid?: number | undefined;
  readonly stdout: Readable | null;
  once: (event: 'exit', listener: () => void) => unknown;
};

/** The limits of a run (`GitRun`). */
type SupervisedRun = {
  command: string;
  seconds: number | null;
  signal?: AbortSignal | undefined;
  stopsAtPause?: boolean;
};

type Supervision = {
  kill: (why?: GitError) => void;
  /** Why the process was killed; null if it was not. */
  getReason: () => GitError | null;
  /** Kills children that ignored SIGTERM. */
  killRest: () => void;
  /** Clears the timers and listeners. Call it after the end of the process. */
  end: () => void;
};

/** Kills the group of a process on request, past its time limit, when its signal aborts, and soon after its end. */
export const superviseGroup = (child: Child, run: SupervisedRun): Supervision => {
  const pid = child.pid ?? 0;
  let reason: GitError | null = null;
  let hasEnded = false;
  let killTimer: NodeJS.Timeout | undefined;
  let orphanTimer: NodeJS.Timeout | undefined;
  const kill = (why = new GitError('unavailable', 'the process was stopped')): void => {
    if (hasEnded || killTimer !== undefined || pid === 0) return;
    reason = why;
    // A paused stream never ends by itself, and the process counts until it has.
    if (run.stopsAtPause === true) child.stdout?.destroy();
    signalGroup(pid, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(pid, 'SIGKILL'), killDelay);
  };
  const onLimit = (): void => kill(new GitError('limit', `git ${run.command} took too long`));
  const limitTimer = run.seconds === null ? undefined : setTimeout(onLimit, run.seconds * 1000);
  const onAbort = (): void => kill(run.signal?.reason as GitError);
  run.signal?.addEventListener('abort', onAbort, { once: true });
  child.once('exit', () => {
    orphanTimer = setTimeout(() => signalGroup(pid, 'SIGKILL'), orphanDelay);
  });
  return {
    kill,
    getReason: () => reason,
    killRest: () => signalGroup(pid, 'SIGKILL'),
    end: () => {
      hasEnded = true;
      for (const timer of [limitTimer, killTimer, orphanTimer]) clearTimeout(timer);
      run.signal?.removeEventListener('abort', onAbort);
    },
  };
};
