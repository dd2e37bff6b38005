/** Sends what a chain of processes writes to a client. */
import type { Duplex, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GitError } from '../git_error.ts';
import type { GitProcess } from './spawn.ts';

export type OutputPipeline = {
  /** Processes of a pipeline, each reading the output of the previous process. The last output is sent. */
  processes: GitProcess[];
  output: Writable;
  /** Transforms between the last process and the output. */
  through?: Duplex[];
  signal: AbortSignal;
};

/** Time limit of a transfer. */
const hourMilliseconds = 3_600_000;

/**
 * Pipes the last process through the transforms into the output.
 * @throws GitError `unavailable` if the output was closed or failed; otherwise the error of the stream that failed
 */
const sendLast = async (
  { stdout }: GitProcess,
  { through = [], output }: OutputPipeline,
  signal: AbortSignal,
): Promise<void> => {
  // A failing pipeline destroys all its streams with the same error: the first one to emit it is the cause.
  let firstFailed: object | null = null;
  for (const stream of [stdout, ...through, output]) stream.once('error', () => (firstFailed ??= stream));
  try {
    await pipeline([stdout, ...through, output], { signal });
  } catch (error) {
    const isClosed = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isClosed || firstFailed === output) throw new GitError('unavailable', 'the reader has gone');
    throw error;
  }
};

/** Pipes a process into the next one. If that stops reading, it is killed, and the error has its stderr. */
const feedNext = async (process: GitProcess, next: GitProcess, signal: AbortSignal): Promise<void> => {
  try {
    await pipeline(process.stdout, next.stdin, { signal });
  } catch {
    next.kill();
    await next.ended.catch(() => undefined);
    throw new GitError('internal', `a process stopped reading its input: ${next.stderrTail()}`);
  }
};

/**
 * Streams the output of a pipeline of processes. No process survives an error on either side.
 * @throws the first error: of the signal, a process, a transform or the output; GitError `limit` after an hour
 */
export const streamProcessChain = async (parts: OutputPipeline): Promise<void> => {
  const { processes, signal } = parts;
  // Killing git does not end a pipeline whose reader stalls, so the pipeline has its own time limit.
  const stopSignal = AbortSignal.any([signal, AbortSignal.timeout(hourMilliseconds)]);
  const links = processes.map(async (process, index) => {
    const next = processes[index + 1];
    await (next === undefined ? sendLast(process, parts, stopSignal) : feedNext(process, next, stopSignal));
  });
  try {
    await Promise.all(links);
  } catch (error) {
    for (const process of processes) process.kill();
    await Promise.allSettled([...links, ...processes.map(async ({ ended }) => ended)]);
    signal.throwIfAborted();
    throw stopSignal.aborted ? new GitError('limit', 'it took too long') : error;
  }
  for (const { ended, stderrTail } of processes) {
    const { code } = await ended;
    if (code !== 0) throw new GitError('internal', `git ended with ${code}: ${stderrTail()}`);
  }
};
