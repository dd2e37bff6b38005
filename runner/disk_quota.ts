/** Ends a job that fills the disk: no file system that a runner may count on has a quota for each folder. */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Milliseconds between two measurements, and how many times as long as one took. */
const pauses = { least: 1_000, factor: 20 };

/** Bytes that folders take on the disk. What a job removes meanwhile makes `du` fail, but not its total. */
const measure = async (folders: readonly string[], signal: AbortSignal): Promise<number> => {
  const words = ['--summarize', '--total', '--one-file-system', '--block-size=1', '--', ...folders];
  const options = { signal, maxBuffer: 2 ** 24, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const { stdout } = await promisify(execFile)('du', words, options).catch(
    (error: unknown) => error as { stdout?: string },
  );
  return Number(/^(\d+)\ttotal$/m.exec(stdout ?? '')?.[1] ?? 0);
};

/**
 * Measures the folders again and again, taking at most a twentieth of one processor.
 * @param limit bytes
 * @returns stops the measurements
 */
export const watchDiskUsage = (
  folders: readonly string[],
  limit: number,
  onExceeded: () => void,
): (() => void) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = async (): Promise<void> => {
    // oxlint-disable no-await-in-loop -- one measurement after another
    while (!signal.aborted) {
      const began = performance.now();
      const used = await measure(folders, signal);
      if (signal.aborted) return;
      if (used > limit) return onExceeded();
      const took = performance.now() - began;
      await wait(Math.max(pauses.least, took * pauses.factor), undefined, { signal, ref: false }).catch(
        () => undefined,
      );
    }
    // oxlint-enable no-await-in-loop
  };
  void watch();
  return () => stopping.abort();
};
