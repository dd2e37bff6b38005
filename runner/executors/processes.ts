/** Processes of this machine: who descends of whom, who carries a mark, and how they are told to end. */
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

/** Who a process is: its number is given again to others, but not with the same start. Null: there is none. */
export const identityOf = (pid: number): string | null => {
  const found = readProcess(pid);
  return found === null ? null : `${pid}:${found.since}`;
};

export const isAlive = (identity: string): boolean => identityOf(Number.parseInt(identity, 10)) === identity;

/** Without itself. */
export const descendantsOf = (pid: number): Process[] => {
  const all = numbers()
    .map(readProcess)
    .filter((one) => one !== null);
  const found: Process[] = [];
  const within = new Set([pid]);
  for (let before = -1; before !== within.size;) {
    before = within.size;
    for (const one of all) {
      if (!within.has(one.parent) || within.has(one.pid)) continue;
      within.add(one.pid);
      found.push(one);
    }
  }
  return found;
};

/** Every child inherits this, wherever it hides, as long as it does not clear its environment. */
export const markName = 'GANTRY_JOB_MARK';

const markPattern = new RegExp(`(?:^|\\0)${markName}=([^\\0]*)`);

export const marked = (): { pid: number; mark: string }[] =>
  numbers().flatMap((pid) => {
    try {
      const mark = markPattern.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
      return mark === undefined ? [] : [{ pid, mark }];
    } catch {
      return []; // ended, or somebody else's
    }
  });

/** @param target a process, or below zero a group */
export const signal = (target: number, name: NodeJS.Signals): void => {
  try {
    process.kill(target, name);
  } catch {
    // It has ended.
  }
};
