import type { Duplex, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GitError } from '../failure.ts';
import type { GitProcess } from './spawn.ts';

export type Sending = {
  /** To the output of the last of these goes what is sent; each has read that of the one before. */
  processes: GitProcess[];
  output: Writable;
  /** What the bytes pass on their way. */
  through?: Duplex[];
  signal: AbortSignal;
};

/** How long anybody may take to read. */
const hour = 3_600_000;

/** Sends what programs write. Whoever ends first, reader or program, nothing is left running. */
export const sendOutput = async ({ processes, output, through = [], signal }: Sending): Promise<void> => {
  // A program that was killed has closed its pipe, but who waits for a reader does not see that.
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
    const { code } = await ended; // oxlint-disable-line no-await-in-loop -- all have ended
    if (code !== 0) throw new GitError('internal', `git ended with ${code}: ${complaint()}`);
  }
};
