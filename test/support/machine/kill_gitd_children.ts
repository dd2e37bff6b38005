/**
 * Preload (`--import`) for the service and its gitd: kills all processes that gitd started at the moment named in the
 * file of `?order=`, then deletes that file.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import process from 'node:process';

const order = new URL(import.meta.url).searchParams.get('order') ?? '';

const getParent = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
};

/** All descendants of this process. */
const descendants = (): number[] => {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(pids.map((pid) => [pid, getParent(pid)]));
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === process.pid || (parent > 1 && isOurs(parent));
  };
  return pids.filter(isOurs);
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
};

const isOrdered = (effect: string): boolean => {
  try {
    return readFileSync(order, 'utf8') === effect;
  } catch {
    return false;
  }
};

if (/gitd/.test(process.argv[1] ?? '')) {
  subscribe('gantry:effect', (message) => {
    const { effect } = message as { effect: string };
    if (!isOrdered(effect)) return;
    rmSync(order);
    for (const pid of descendants()) kill(pid);
  });
}
