/** Chooses the user of each slot's jobs, if this process may change users; no other account has the same id. */
import { readFileSync, readdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { User } from './run_process.ts';

/** User ids that no system assigns. Each runner has a thousand, derived from its folder. */
const wide = { first: 1_900_000_000, runners: 200_000, slots: 1_000 };
/** For containers with only 65536 ids. */
const narrow = { first: 64_100 };

/** True if our user namespace maps these ids. */
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

export const getSlotUser = (root: string, slot: number): User => {
  const number = wide.first + (crc32(root) % wide.runners) * wide.slots + (slot % wide.slots);
  const id = isMapped(number) ? number : narrow.first + slot;
  return { uid: id, gid: id };
};

/** Returns whether a process of this user is alive; zombies do not count. */
const hasProcesses = ({ uid }: User): boolean =>
  readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      // `/proc/<pid>` of non-dumpable processes belongs to root.
      const status = readFileSync(`/proc/${name}/status`, 'latin1');
      const ids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
      return ids.includes(String(uid)) && !/^State:\s+[ZX]/m.test(status);
    } catch {
      return false; // ended meanwhile
    }
  });

/** Milliseconds for killed processes to end. */
const killTimeout = 5_000;

/** Kills all processes of a user in one step, so that no child escapes. @throws if some survive */
export const endUser = async (user: User): Promise<void> => {
  const end = performance.now() + killTimeout;
  while (hasProcesses(user)) {
    if (performance.now() > end) throw new Error('processes of the job could not be ended');
    const killer = spawn('/bin/sh', ['-c', 'kill -9 -1'], { ...user, cwd: '/', env: {}, stdio: 'ignore' });
    await once(killer, 'exit').catch(() => undefined);
    if (hasProcesses(user)) await wait(10);
  }
};
