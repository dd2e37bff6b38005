/** Reads the output of a process in large pieces: git writes packs 8 KB at a time, and each read wakes this process. */
import type { Readable } from 'node:stream';

/** Milliseconds between two reads, in which the pipe fills. */
const readInterval = 1;

export type GatheredOutput = {
  /** Continues to read after `send` returned false. */
  resume: () => void;
  /** Sends what was read. */
  flush: () => void;
  /** Ends the reading. */
  stop: () => void;
};

/** @param send receives the chunks that were read; returns false to pause the reading */
export const gatherOutput = (
  source: Readable,
  send: (chunks: readonly Buffer[]) => boolean,
): GatheredOutput => {
  let chunks: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let [isReading, canSend, isStopped] = [false, true, false];
  const flush = (): void => {
    if (chunks.length === 0) return;
    const read = chunks;
    chunks = [];
    canSend = send(read);
  };
  const resume = (): void => {
    timer = undefined;
    if (canSend) source.resume();
  };
  const pause = (): void => {
    isReading = false;
    if (isStopped || source.readableEnded) return;
    source.pause();
    timer ??= setTimeout(resume, readInterval);
    flush();
  };
  const collect = (chunk: Buffer): void => {
    chunks.push(chunk);
    // Until then, everything that the pipe holds is read.
    if (!isReading) setImmediate(pause);
    isReading = true;
  };
  source.on('data', collect);
  return {
    flush,
    resume: () => {
      canSend = true;
      if (timer === undefined && !isStopped) source.resume();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      source.off('data', collect);
    },
  };
};
