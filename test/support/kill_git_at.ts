/**
 * Loaded before the service (`--import`) and so before its gitd: kills all processes that gitd has started, at the
 * moment that stands in the file which `?order=` names, and takes that file away.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import process from 'node:process';

const order = new URL(import.meta.url).searchParams.get('order') ?? '';

const parentOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
};

/** All that this process has started, and what that has. */
const descendants = (): number[] => {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
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
    // It has ended.
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
