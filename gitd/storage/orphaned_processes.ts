/**
 * Ends git processes of a gitd that was killed. Most end when their pipes close, but a writing process may continue
 * next to ours. While one lives, lock files cannot be judged stale.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

type ProcessEntry = { pid: number; parent: number; line: string };

const readProcess = (pid: string): ProcessEntry | null => {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return { pid: Number(pid), parent, line };
  } catch {
    return null; // ended meanwhile
  }
};

/** Finds git processes below `root` whose gitd is gone. Empty on systems without /proc. */
export const findOrphans = (root: string): number[] => {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  const processes = names.map(readProcess).filter((one) => one !== null);
  const commandLines = new Map(processes.map(({ pid, line }) => [pid, line]));
  const isOurs = ({ line }: ProcessEntry): boolean =>
    line.includes(`--git-dir=${root}/`) ||
    // Transfers have the repository as an argument.
    (/^\S*git (?:receive|upload)-pack /.test(line) && line.includes(` ${root}/`));
  const isKept = ({ parent }: ProcessEntry): boolean =>
    /gitd/.test(commandLines.get(parent) ?? '') && parent !== 1;
  return processes.filter((one) => isOurs(one) && !isKept(one)).map(({ pid }) => pid);
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // ended meanwhile
  }
};

/** Sends SIGTERM, on which git removes its lock files; after two seconds SIGKILL. */
export const endOrphans = async (root: string): Promise<number> => {
  const orphans = findOrphans(root);
  for (const pid of orphans) signal(pid, 'SIGTERM');
  for (let waited = 0; waited < 40 && findOrphans(root).length > 0; waited += 1) {
    if (waited === 20) for (const pid of findOrphans(root)) signal(pid, 'SIGKILL');
    await wait(100);
  }
  return orphans.length;
};
