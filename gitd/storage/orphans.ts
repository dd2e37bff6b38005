/**
 * Git processes of a gitd that was killed. Most end by themselves when their pipes close; one that writes might go
 * on beside ours, and while one lives, nobody knows whether a lock file still means something.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

type Found = { pid: number; parent: number; line: string };

const readProcess = (pid: string): Found | null => {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return { pid: Number(pid), parent, line };
  } catch {
    return null; // ended meanwhile
  }
};

/** Those that work below `root` and whose gitd is gone. Empty where the system has no /proc. */
export const findOrphans = (root: string): number[] => {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  const all = names.map(readProcess).filter((one) => one !== null);
  const lineOf = new Map(all.map(({ pid, line }) => [pid, line]));
  const isOurs = ({ line }: Found): boolean =>
    line.includes(`--git-dir=${root}/`) ||
    // Transfers have their repository as an argument.
    (/^\S*git (?:receive|upload)-pack /.test(line) && line.includes(` ${root}/`));
  const isKept = ({ parent }: Found): boolean => /gitd/.test(lineOf.get(parent) ?? '') && parent !== 1;
  return all.filter((one) => isOurs(one) && !isKept(one)).map(({ pid }) => pid);
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // ended meanwhile
  }
};

/** Asks them to end, which removes their lock files; after two seconds, forces them. */
export const endOrphans = async (root: string): Promise<number> => {
  const found = findOrphans(root);
  for (const pid of found) signal(pid, 'SIGTERM');
  for (let waited = 0; waited < 40 && findOrphans(root).length > 0; waited += 1) {
    if (waited === 20) for (const pid of findOrphans(root)) signal(pid, 'SIGKILL');
    // oxlint-disable-next-line no-await-in-loop -- until they are gone
    await wait(100);
  }
  return found.length;
};
