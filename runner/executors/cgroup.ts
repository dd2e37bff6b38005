/** Creates a control group for one run if permitted: the kernel then limits and ends everything in it. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from './process_limits.ts';
import { type Start, startChild } from './run_process.ts';

export type Group = {
  /** A process that writes its pid here joins the group with its children. */
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

const attempt = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

/** Our own cgroup v2, and its parent if visible. */
const ownFolders = (): { own: string; above: string | null } | null => {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  const mount = / \/ (\S+) [^\n]*- cgroup2 /.exec(read('/proc/self/mountinfo'))?.[1];
  if (path === undefined || mount === undefined) return null;
  const own = join(mount, path);
  // The parent of the mount point is not a group.
  return { own, above: path === '/' ? null : dirname(own) };
};

/** systemd delegates whole subtrees with the process below the top: only there may sibling groups be limited. */
const isDelegated = (folder: string): boolean => !/(?:^$|\.(?:service|scope|slice))$/.test(basename(folder));

/** Candidate parents, best first: a group that contains processes cannot limit its children. */
const parents = (): string[] => {
  const folders = ownFolders();
  if (folders === null) return [];
  const { own, above } = folders;
  const limiting = [own, isDelegated(own) ? above : null].filter((one) => one !== null);
  const gives = (folder: string): boolean => {
    const file = join(folder, 'cgroup.subtree_control');
    for (const controller of ['+memory', '+pids'])
      attempt(() => writeFileSync(file, controller, { flag: 'r+' }));
    return /\b(?:memory|pids)\b/.test(read(file));
  };
  return [...limiting.filter(gives), own];
};

const prefix = 'gantry-';

const removeGroup = async (folder: string): Promise<void> => {
  attempt(() => writeFileSync(join(folder, 'cgroup.kill'), '1'));
  for (let tries = 0; tries < 50; tries += 1) {
    if (attempt(() => rmdirSync(folder)) || !existsSync(folder)) return;
    await wait(10);
  }
};

/** Without swap the memory limit is effective. Limits that the kernel lacks are left to prlimit. */
const limitGroup = (folder: string, { processes, memory }: Limits): void => {
  const files = [
    ['pids.max', processes],
    ['memory.max', memory],
    ['memory.swap.max', memory === null ? null : 0],
    ['memory.oom.group', memory === null ? null : 1],
  ] as const;
  for (const [name, value] of files) {
    const file = join(folder, name);
    if (value !== null && existsSync(file)) attempt(() => writeFileSync(file, String(value)));
  }
};

const getProcsFile = (folder: string): string => join(folder, 'cgroup.procs');

/** Outside the cgroup file system this would be an ordinary folder. */
const make = (folder: string): boolean => {
  if (!attempt(() => mkdirSync(folder))) return false;
  if (existsSync(getProcsFile(folder))) return true;
  attempt(() => rmdirSync(folder));
  return false;
};

/**
 * Creates a group.
 * @param places for the tests; default: the groups of this process
 */
export const makeGroup = (name: string, limits: Limits, places = parents()): Group | null => {
  const folder = places.map((parent) => join(parent, prefix + name)).find(make);
  if (folder === undefined) return null;
  limitGroup(folder, limits);
  return { entrance: getProcsFile(folder), kill: async () => await removeGroup(folder) };
};

/** Ends left-over groups with all their processes. */
export const endGroups = async (isLeft: (name: string) => boolean): Promise<void> => {
  const foundIn = (parent: string): string[] => {
    let names: string[] = [];
    attempt(() => void (names = readdirSync(parent)));
    const leftovers = names.filter((name) => name.startsWith(prefix) && isLeft(name.slice(prefix.length)));
    return leftovers.map((name) => join(parent, name));
  };
  await Promise.all([...new Set(parents().flatMap(foundIn))].map(removeGroup));
};

const letEnter = ({ entrance }: Group, { pid, stdio }: ChildProcess, descriptor: number): void => {
  const word = stdio[descriptor] as Duplex | null | undefined;
  word?.on('error', () => undefined);
  try {
    writeFileSync(entrance, String(pid ?? 0));
  } catch {
    // It has ended already.
  }
  word?.end('\n');
};

/** Like `startChild`, in a group. The child runs the command after it has joined, so that nothing starts outside. */
export const startWithin = (group: Group | null, start: Start): ChildProcess => {
  if (group === null) return startChild(start);
  const pipes = start.pipes ?? 0;
  const descriptor = 3 + pipes;
  const waiter = `read -r _ <&${descriptor}; exec ${descriptor}>&-; exec "$0" "$@"`;
  const args = ['/bin/sh', '-c', waiter, ...start.words];
  const child = startChild({ ...start, words: args, pipes: pipes + 1 });
  letEnter(group, child, descriptor);
  return child;
};
