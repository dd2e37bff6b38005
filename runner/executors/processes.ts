/** Lists processes of this machine by parent or by mark, and signals them. */
import { readFileSync, readdirSync } from 'node:fs';

const numbers = (): number[] => {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return []; // a system without /proc
  }
};

export type Process = { pid: number; parent: number; name: string; since: string };

const readProcess = (pid: number): Process | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(fields[1]), name, since: fields[19] ?? '' };
  } catch {
    return null; // ended meanwhile
  }
};

/** Identifies a process by pid and start time, since pids are reused. Null: no such process. */
export const getIdentity = (pid: number): string | null => {
  const entry = readProcess(pid);
  return entry === null ? null : `${pid}:${entry.since}`;
};

export const isAlive = (identity: string): boolean => getIdentity(Number.parseInt(identity, 10)) === identity;

/** Lists all descendants, without the process itself. */
export const listDescendants = (pid: number): Process[] => {
  const processes = numbers()
    .map(readProcess)
    .filter((one) => one !== null);
  const descendants: Process[] = [];
  const within = new Set([pid]);
  for (let before = -1; before !== within.size;) {
    before = within.size;
    for (const candidate of processes) {
      if (!within.has(candidate.parent) || within.has(candidate.pid)) continue;
      within.add(candidate.pid);
      descendants.push(candidate);
    }
  }
  return descendants;
};

/** Environment variable that every child inherits unless it clears its environment. */
export const markName = 'GANTRY_JOB_MARK';

const markPattern = new RegExp(`(?:^|\\0)${markName}=([^\\0]*)`);

export const marked = (): { pid: number; mark: string }[] =>
  numbers().flatMap((pid) => {
    try {
      const mark = markPattern.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
      return mark === undefined ? [] : [{ pid, mark }];
    } catch {
      return []; // ended, or of another user
    }
  });

/**
 * Sends a signal.
 * @param target a pid, or a negative process group
 */
export const signal = (target: number, name: NodeJS.Signals): void => {
  try {
    process.kill(target, name);
  } catch {
    // It has ended.
  }
};
