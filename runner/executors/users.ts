/** The users that jobs run as, where this process may make them others than itself: none of them is anybody else. */
import { readFileSync, readdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { User } from './run.ts';

/** Numbers that no system gives to anybody; a runner has a thousand of them, found by its folder. */
const wide = { first: 1_900_000_000, runners: 200_000, slots: 1_000 };
/** Where only 65536 of them are to be had: within some containers. */
const narrow = { first: 64_100 };

/** Whether numbers of that size mean anything in our namespace. */
const isMapped = (id: number): boolean => {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
    return lines.some((line) => {
      const [start = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return id >= start && id < start + count;
    });
  } catch {
    return false;
  }
};

export const userOfSlot = (root: string, slot: number): User => {
  const number = wide.first + (crc32(root) % wide.runners) * wide.slots + (slot % wide.slots);
  const id = isMapped(number) ? number : narrow.first + slot;
  return { uid: id, gid: id };
};

/** Whether one lives that is of this user; those that have ended and wait for their parent do not count. */
const hasProcesses = ({ uid }: User): boolean =>
  readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      // The owner of the folder is another where a process forbids that its memory is read.
      const status = readFileSync(`/proc/${name}/status`, 'latin1');
      const ids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
      return ids.includes(String(uid)) && !/^State:\s+[ZX]/m.test(status);
    } catch {
      return false; // ended meanwhile
    }
  });

/** Milliseconds until those that were killed have gone. */
const patience = 5_000;

/**
 * Ends all processes of a user, at one stroke: no child of theirs slips through.
 * @throws where some live on
 */
export const endUser = async (user: User): Promise<void> => {
  const end = performance.now() + patience;
  // oxlint-disable no-await-in-loop -- until none is left
  while (hasProcesses(user)) {
    if (performance.now() > end) throw new Error('processes of the job could not be ended');
    const killer = spawn('/bin/sh', ['-c', 'kill -9 -1'], { ...user, cwd: '/', env: {}, stdio: 'ignore' });
    await once(killer, 'exit').catch(() => undefined);
    if (hasProcesses(user)) await wait(10);
  }
  // oxlint-enable no-await-in-loop
};
