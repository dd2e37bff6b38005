/** A control group for one run, where this process may make one: the kernel then ends all that is in it. */
import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export type Group = {
  /** Who writes its number here is in it, and all that it starts. */
  entrance: string;
  kill: () => Promise<void>;
};

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Folder of our own group of version 2; null: there is none. */
const ownFolder = (): string | null => {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  const mount = / \/ (\S+) [^\n]*- cgroup2 /.exec(read('/proc/self/mountinfo'))?.[1];
  return path === undefined || mount === undefined ? null : join(mount, path);
};

const attempt = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

const prefix = 'gantry-';

const removeGroup = async (folder: string): Promise<void> => {
  attempt(() => writeFileSync(join(folder, 'cgroup.kill'), '1'));
  for (let tries = 0; tries < 50; tries += 1) {
    if (attempt(() => rmdirSync(folder))) return;
    // oxlint-disable-next-line no-await-in-loop -- those that were killed are still going
    await wait(10);
  }
};

/** @param processes at most in it, where the kernel counts them for us */
export const makeGroup = (name: string, processes: number): Group | null => {
  const parent = ownFolder();
  if (parent === null) return null;
  const folder = join(parent, prefix + name);
  if (!attempt(() => mkdirSync(folder))) return null;
  attempt(() => writeFileSync(join(folder, 'pids.max'), String(processes)));
  return { entrance: join(folder, 'cgroup.procs'), kill: async () => await removeGroup(folder) };
};

/** Ends those that were left, with all that is in them. */
export const endGroups = async (isLeft: (name: string) => boolean): Promise<void> => {
  const parent = ownFolder();
  if (parent === null) return;
  let names: string[] = [];
  attempt(() => void (names = readdirSync(parent)));
  const left = names.filter((name) => name.startsWith(prefix) && isLeft(name.slice(prefix.length)));
  await Promise.all(left.map(async (name) => await removeGroup(join(parent, name))));
};
