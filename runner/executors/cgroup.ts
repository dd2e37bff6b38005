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

/** Folder of our own group of version 2; null: there is none. */
const ownFolder = (): string | null => {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  const mount = / \/ (\S+) [^\n]*- cgroup2 /.exec(read('/proc/self/mountinfo'))?.[1];
  return path === undefined || mount === undefined ? null : join(mount, path);
};

/** Systemd gives whole groups away, and puts who gets one below it: only there may groups beside us be limited. */
const isGivenAway = (folder: string): boolean => !/(?:^$|\.(?:service|scope|slice))$/.test(basename(folder));

/** Those that may hold groups of ours, the best first: a group with processes in it gives no limits to those below. */
const parents = (): string[] => {
  const own = ownFolder();
  if (own === null) return [];
  const [above] = isGivenAway(own) ? [dirname(own)] : [];
  const limiting = [own, above].filter((one) => one !== undefined);
  const gives = (folder: string): boolean => {
    const file = join(folder, 'cgroup.subtree_control');
    for (const wanted of ['+memory', '+pids']) attempt(() => writeFileSync(file, wanted));
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

/** @param places for the tests; else those of this process */
export const makeGroup = (name: string, limits: Limits, places = parents()): Group | null => {
  const folder = places
    .map((parent) => join(parent, prefix + name))
    .find((one) => attempt(() => mkdirSync(one)));
  if (folder === undefined) return null;
  limitGroup(folder, limits);
  return { entrance: join(folder, 'cgroup.procs'), kill: async () => await removeGroup(folder) };
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
