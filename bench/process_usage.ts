/** Reads CPU time and memory of processes from Linux, and pins processes to cores. */
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { spawnSync } from 'node:child_process';

const ticksPerSecond = 100;

/** `ticks`: with those of children that have ended. */
type Stat = { parent: number; own: number; ticks: number };

/** `pid (name) state ppid ...`: the fields after the name, which may hold anything. */
const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    const own = utime + stime;
    return { parent: fields[1] ?? 0, own, ticks: own + cutime + cstime };
  } catch {
    return null; // it ended meanwhile
  }
};

/** A process and all below it. */
export const treeOf = (root: number): number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? statOf(pid)?.parent : undefined;
    if (parent !== undefined) children.getOrInsertComputed(parent, () => []).push(pid);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root);
};

/** Seconds of CPU, user and system, that the trees of these processes have used. */
export const cpuSeconds = (roots: readonly number[]): number =>
  secondsOf(new Set(roots.flatMap(treeOf)), ({ ticks }) => ticks);

/** The same for these processes without their children. */
export const ownCpuSeconds = (pids: readonly number[]): number => secondsOf(new Set(pids), ({ own }) => own);

/** Seconds of CPU of the children of this process that have ended. */
export const endedChildrenCpuSeconds = (): number =>
  secondsOf(new Set([process.pid]), ({ own, ticks }) => ticks - own);

const secondsOf = (pids: ReadonlySet<number>, ticksOf: (stat: Stat) => number): number => {
  const stats = [...pids].map(statOf).filter((stat) => stat !== null);
  return stats.reduce((sum, stat) => sum + ticksOf(stat), 0) / ticksPerSecond;
};

/**
 * Megabytes that a tree, or one process of it, holds: resident, and with shared pages split among those who share
 * them.
 */
export const memoryOf = (root: number, withChildren = true): { rss: number; pss: number } => {
  const sum = { rss: 0, pss: 0 };
  for (const pid of withChildren ? treeOf(root) : [root]) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kilobytes = (name: string): number =>
      Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    sum.rss += kilobytes('Rss') / 1024;
    sum.pss += kilobytes('Pss') / 1024;
  }
  return sum;
};

/** Per cent of the last ten seconds in which something waited for a processor; 0 where it is not told. */
export const pressure = (): number => {
  try {
    return Number(/some avg10=([\d.]+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The command line that runs a program on one core: the measured program on core 0, the measuring one on core 1. */
export const pinned = (core: 0 | 1, program: string, args: readonly string[]): [string, string[]] =>
  canPin ? ['taskset', ['-c', String(core), program, ...args]] : [program, [...args]];

export const isPinned = canPin;
