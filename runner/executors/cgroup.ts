/** A control group for one run, where this process may make one: the kernel then counts and ends all that is in it. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Limits } from './limits.ts';
import { type Start, startChild } from './run.ts';

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

const attempt = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

/** Our own group of version 2, and the one above it where that can be seen. */
const ownFolders = (): { own: string; above: string | null } | null => {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  const mount = / \/ (\S+) [^\n]*- cgroup2 /.exec(read('/proc/self/mountinfo'))?.[1];
  if (path === undefined || mount === undefined) return null;
  const own = join(mount, path);
  // What is above the place where groups are mounted is none.
  return { own, above: path === '/' ? null : dirname(own) };
};

/** Systemd gives whole groups away, and puts who gets one below it: only there may groups beside us be limited. */
const isGivenAway = (folder: string): boolean => !/(?:^$|\.(?:service|scope|slice))$/.test(basename(folder));

/** Those that may hold groups of ours, the best first: a group with processes in it gives no limits to those below. */
const parents = (): string[] => {
  const found = ownFolders();
  if (found === null) return [];
  const { own, above } = found;
  const limiting = [own, isGivenAway(own) ? above : null].filter((one) => one !== null);
  const gives = (folder: string): boolean => {
    const file = join(folder, 'cgroup.subtree_control');
    for (const wanted of ['+memory', '+pids']) attempt(() => writeFileSync(file, wanted, { flag: 'r+' }));
    return /\b(?:memory|pids)\b/.test(read(file));
  };
  return [...limiting.filter(gives), own];
};

const prefix = 'gantry-';

const removeGroup = async (folder: string): Promise<void> => {
  attempt(() => writeFileSync(join(folder, 'cgroup.kill'), '1'));
  for (let tries = 0; tries < 50; tries += 1) {
    if (attempt(() => rmdirSync(folder)) || !existsSync(folder)) return;
    // oxlint-disable-next-line no-await-in-loop -- those that were killed are still going
    await wait(10);
  }
};

/** Without swap a limit of memory is one. What the kernel does not count here is left to the limits of processes. */
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

const entranceOf = (folder: string): string => join(folder, 'cgroup.procs');

/** Elsewhere than among groups, it would be a folder that holds nothing, and that nobody could remove. */
const make = (folder: string): boolean => {
  if (!attempt(() => mkdirSync(folder))) return false;
  if (existsSync(entranceOf(folder))) return true;
  attempt(() => rmdirSync(folder));
  return false;
};

/** @param places for the tests; else those of this process */
export const makeGroup = (name: string, limits: Limits, places = parents()): Group | null => {
  const folder = places.map((parent) => join(parent, prefix + name)).find(make);
  if (folder === undefined) return null;
  limitGroup(folder, limits);
  return { entrance: entranceOf(folder), kill: async () => await removeGroup(folder) };
};

/** Ends those that were left, with all that is in them. */
export const endGroups = async (isLeft: (name: string) => boolean): Promise<void> => {
  const foundIn = (parent: string): string[] => {
    let names: string[] = [];
    attempt(() => void (names = readdirSync(parent)));
    const left = names.filter((name) => name.startsWith(prefix) && isLeft(name.slice(prefix.length)));
    return left.map((name) => join(parent, name));
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

/** As `startChild`, within a group. The child becomes its command when it is in, so that nothing is started outside. */
export const startWithin = (group: Group | null, start: Start): ChildProcess => {
  if (group === null) return startChild(start);
  const pipes = start.pipes ?? 0;
  const descriptor = 3 + pipes;
  const waiter = `read -r _ <&${descriptor}; exec ${descriptor}>&-; exec "$0" "$@"`;
  const words = ['/bin/sh', '-c', waiter, ...start.words];
  const child = startChild({ ...start, words, pipes: pipes + 1 });
  letEnter(group, child, descriptor);
  return child;
};
