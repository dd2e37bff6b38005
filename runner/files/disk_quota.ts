/** Stops a job that fills the disk. Measured, because folder quotas are not available on every file system. */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Milliseconds between measurements, and the least ratio of pause to duration. */
const pauses = { least: 1_000, factor: 20 };

/** Measures folders in bytes on disk. `du` fails on files removed meanwhile, but its total holds. */
const measure = async (folders: readonly string[], signal: AbortSignal): Promise<number> => {
  const words = ['--summarize', '--total', '--one-file-system', '--block-size=1', '--', ...folders];
  const options = { signal, maxBuffer: 2 ** 24, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const { stdout } = await promisify(execFile)('du', words, options).catch(
    (error: unknown) => error as { stdout?: string },
  );
  return Number(/^(\d+)\ttotal$/m.exec(stdout ?? '')?.[1] ?? 0);
};

/**
 * Measures the folders repeatedly, with at most a twentieth of one CPU.
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
  };
  void watch();
  return () => stopping.abort();
};
