/** The folders of one slot: who holds it, what its present job is, and what its jobs work in. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Folders } from './executors/executor.ts';
import { identityOf, isAlive } from './executors/processes.ts';
import type { User } from './executors/run.ts';
import { userOfSlot } from './executors/users.ts';

export type Slot = {
  number: number;
  /** Ours alone. */
  folder: string;
  /** Holds the folders of jobs. Ours, too: else a job could have other folders stand in their place. */
  work: string;
  user: User | null;
  release: () => void;
};

/** The log of a slot's present job. */
export const traceFile = (slotFolder: string): string => join(slotFolder, 'trace');

/** For the user that jobs run as. */
export const giveTo = (user: User | null, path: string): void => {
  if (user !== null) chownSync(path, user.uid, user.gid);
};

/** A new file for the user that jobs run as; a link that a job left in its place is replaced, not followed. */
export const writeNew = (user: User | null, file: string, content: string | Buffer): void => {
  rmSync(file, { recursive: true, force: true });
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (user !== null) fchownSync(descriptor, user.uid, user.gid);
  } finally {
    closeSync(descriptor);
  }
};

const holderOf = (lock: string): string => {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return '';
  }
};

/** Locks that this process holds: one with its name that is not among them is of a time before a restart of the machine. */
const mine = new Set<string>();

/** True: it is ours now. One whose holder has died is taken over. */
const take = (lock: string): boolean => {
  if (mine.has(lock)) return false;
  const me = identityOf(process.pid) ?? `${process.pid}:`;
  const holder = holderOf(lock);
  if (holder !== '') {
    if (holder !== me && isAlive(holder)) return false;
    rmSync(lock, { force: true });
  }
  try {
    writeFileSync(lock, me, { flag: 'wx', mode: 0o600 });
    mine.add(lock);
    return true;
  } catch {
    return false; // another was quicker
  }
};

/** Null: somebody has it. */
export const takeNumber = (root: string, number: number, drops: boolean): Slot | null => {
  const folder = join(root, 'slots', String(number));
  const work = join(folder, 'work');
  const user = drops ? userOfSlot(root, number) : null;
  mkdirSync(work, { recursive: true, mode: 0o700 });
  const lock = join(folder, 'lock');
  if (!take(lock)) return null;
  if (user !== null) {
    for (const above of [join(root, 'slots'), folder]) chmodSync(above, 0o711);
  }
  const release = (): void => {
    mine.delete(lock);
    rmSync(lock, { force: true });
  };
  return { number, folder, work, user, release };
};

/** @param held numbers that this process has in use */
export const takeSlot = (root: string, held: ReadonlySet<number>, drops: boolean): Slot => {
  for (let number = 0; ; number += 1) {
    const slot = held.has(number) ? null : takeNumber(root, number, drops);
    if (slot !== null) return slot;
  }
};

/** Also what a job made unreadable, or deeper than paths can be long. */
export const removeTree = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    const run = promisify(execFile);
    await run('/bin/chmod', ['-R', 'u+rwX', '--', path]).catch(() => undefined);
    await run('/bin/rm', ['-rf', '--', path]);
  }
};

/** One that this user's jobs left; of another's not even the name is used. */
const isFolder = (user: User | null, path: string): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (user === null || stats.uid === user.uid);
};

/** Of the user that jobs run as, whatever a job made of it. */
const makeOwn = async (user: User | null, path: string): Promise<void> => {
  if (!isFolder(user, path)) {
    await removeTree(path);
    mkdirSync(path, { mode: 0o700 });
  }
  chmodSync(path, 0o700);
  giveTo(user, path);
};

/**
 * Those of one job: home, scripts and temporary files are its own, the project's stay for its next job here.
 * @param name of the folder of all projects
 */
export const makeFolders = async (
  { work, user }: Slot,
  projectId: number,
  name: string,
): Promise<Folders> => {
  const [builds, mirrors] = [join(work, name), join(work, 'mirrors')];
  const mirror = join(mirrors, String(projectId));
  const folders: Folders = {
    project: join(builds, String(projectId)),
    objects: join(mirror, 'objects'),
    home: join(work, 'home'),
    temp: join(work, 'temp'),
    files: join(work, 'files'),
  };
  // Jobs get through these, and cannot put anything into them.
  for (const above of [builds, mirrors]) {
    mkdirSync(above, { recursive: true, mode: 0o700 });
    if (user !== null) chmodSync(above, 0o711);
  }
  const emptied = [folders.home, folders.temp, folders.files];
  if (!isFolder(user, folders.objects)) emptied.push(mirror);
  // oxlint-disable no-await-in-loop -- few
  for (const own of emptied) await removeTree(own);
  for (const own of [folders.project, mirror, folders.objects, folders.home, folders.temp, folders.files])
    await makeOwn(user, own);
  // oxlint-enable no-await-in-loop
  // Only now: what a container left may be open to all.
  if (user !== null) chmodSync(work, 0o711);
  const now = new Date();
  for (const used of [folders.project, mirror]) utimesSync(used, now, now);
  return folders;
};
