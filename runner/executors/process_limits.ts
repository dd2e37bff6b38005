/** Limits each process of a job by `prlimit`. */
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** From util-linux. If missing, only time is limited. */
const program = '/usr/bin/prlimit';

export type Limits = {
  /** Maximum processes of the job, or of its user without cgroups. */
  processes: number;
  /** Maximum bytes of one file. */
  file: number;
  /** Maximum bytes of memory of a job, or of each process without cgroups. Null: most of the machine's. */
  memory: number | null;
};

export const usualLimits: Limits = { processes: 2_048, file: 16 * 2 ** 30, memory: null };

/** The hard limits of this process. */
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

/** Returns the words to put before a command to limit it. */
export const limitArguments = ({ processes, file, memory }: Limits): string[] => {
  if (!existsSync(program)) return [];
  const maxBytes = Math.floor(totalmem() * 0.75);
  const limits = [
    ['nproc', 'processes', processes],
    ['fsize', 'file size', file],
    ['data', 'data size', Math.min(maxBytes, memory ?? maxBytes)],
    ['nofile', 'open files', 65_536],
    ['core', 'core file size', 0],
  ] as const;
  const args = limits.map(([option, name, limit]) => `--${option}=${Math.min(limit, hardLimit(name))}`);
  return [program, ...args, '--'];
};
