import type { Duplex, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GitError } from '../git_error.ts';
import type { GitProcess } from './spawn.ts';

export type Sending = {
  /** Processes of a pipeline, each reading the output of the one before. The last one's output is sent. */
  processes: GitProcess[];
  output: Writable;
  /** Transforms between the last process and the output. */
  through?: Duplex[];
  signal: AbortSignal;
};

/** Time limit of a transfer. */
const hour = 3_600_000;

/** Streams the output of a pipeline of processes. No process survives an error on either side. */
export const sendOutput = async ({ processes, output, through = [], signal }: Sending): Promise<void> => {
  // If the reader stalls, killing git does not end the pipeline, so it has a time limit of its own.
  const ending = { signal: AbortSignal.any([signal, AbortSignal.timeout(hour)]) };
  const sendLast = async ({ stdout }: GitProcess): Promise<void> =>
    await pipeline([stdout, ...through, output], ending);
  const links = processes.map(async (process, index) => {
    const next = processes[index + 1];
    await (next === undefined ? sendLast(process) : pipeline(process.stdout, next.stdin, ending));
  });
  try {
    await Promise.all(links);
  } catch {
    for (const process of processes) process.kill();
    await Promise.allSettled([...links, ...processes.map(async ({ ended }) => ended)]);
    signal.throwIfAborted();
    const isLate = ending.signal.aborted;
    throw isLate
      ? new GitError('limit', 'it took too long')
      : new GitError('unavailable', 'the reader has gone');
  }
  for (const { ended, complaint } of processes) {
    const { code } = await ended;
    if (code !== 0) throw new GitError('internal', `git ended with ${code}: ${complaint()}`);
  }
};
