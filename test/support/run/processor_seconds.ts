/** Counts the processor time of test files. */
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/**
 * Returns the seconds that this process and the ended processes that it waited for have used; 0 where the system does
 * not count them.
 */
export const readProcessorSeconds = (): number => {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    // user and system time of the process, then those of its children
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
  } catch {
    return 0;
  }
};

/** A note for the reporter: what a file used. */
export const processorNote = (file: string, seconds: number): string =>
  `processor time of ${file}: ${seconds.toFixed(2)} s`;

export const readProcessorNote = (note: string): { file: string; seconds: number } | undefined => {
  const [, file, seconds] = /^processor time of (\S+): ([\d.]+) s$/.exec(note) ?? [];
  return file === undefined ? undefined : { file, seconds: Number(seconds) };
};
