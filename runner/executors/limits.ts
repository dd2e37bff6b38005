/** What each process of a job may use at most, held by the kernel. */
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Of util-linux. Where it is missing, only times are limited. */
const program = '/usr/bin/prlimit';

export type Limits = {
  /** Processes of the job, where they can be counted; else of the job's user. */
  processes: number;
  /** Bytes of one file. */
  file: number;
  /** Bytes of all of a job together, where they can be counted; else of each process. Null: most of the machine's. */
  memory: number | null;
};

export const usualLimits: Limits = { processes: 2_048, file: 16 * 2 ** 30, memory: null };

/** What we may not exceed ourselves. */
const hardLimit = (name: string): number => {
  try {
    const line = new RegExp(String.raw`^Max ${name} +\S+ +(\S+)`, 'm').exec(
      readFileSync('/proc/self/limits', 'utf8'),
    );
    const value = Number(line?.[1]);
    return Number.isNaN(value) ? Number.MAX_SAFE_INTEGER : value;
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
};

/** The words before a command that limit it. */
export const limitWords = ({ processes, file, memory }: Limits): string[] => {
  if (!existsSync(program)) return [];
  const most = Math.floor(totalmem() * 0.75);
  const wanted = [
    ['nproc', 'processes', processes],
    ['fsize', 'file size', file],
    ['data', 'data size', Math.min(most, memory ?? most)],
    ['nofile', 'open files', 65_536],
    ['core', 'core file size', 0],
  ] as const;
  const words = wanted.map(([option, name, most]) => `--${option}=${Math.min(most, hardLimit(name))}`);
  return [program, ...words, '--'];
};
