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
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Folders } from './executors/executor.ts';
import { identityOf, isAlive } from './executors/processes.ts';
import type { User } from './executors/run.ts';

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

/** With the rights of root, jobs of a slot run as a user that nobody else is. */
const firstUser = 64_100;

export const userOfSlot = (number: number, drops: boolean): User | null =>
  drops ? { uid: firstUser + number, gid: firstUser + number } : null;

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

/** True: it is ours now. One whose holder has died is taken over. */
const take = (lock: string): boolean => {
  const me = identityOf(process.pid) ?? `${process.pid}:`;
  const holder = holderOf(lock);
  if (holder !== '') {
    if (holder !== me && isAlive(holder)) return false;
    rmSync(lock, { force: true });
  }
  try {
    writeFileSync(lock, me, { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    return false; // another was quicker
  }
};

/** @param held numbers that this process has in use */
export const takeSlot = (root: string, held: ReadonlySet<number>, drops: boolean): Slot => {
  for (let number = 0; ; number += 1) {
    if (held.has(number)) continue;
    const folder = join(root, 'slots', String(number));
    const work = join(folder, 'work');
    const user = userOfSlot(number, drops);
    mkdirSync(work, { recursive: true, mode: 0o700 });
    const lock = join(folder, 'lock');
    if (!take(lock)) continue;
    if (user !== null) {
      for (const above of [join(root, 'slots'), folder, work]) chmodSync(above, 0o711);
    }
    return { number, folder, work, user, release: () => rmSync(lock, { force: true }) };
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

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Of the user that jobs run as, whatever a job made of it. */
const makeOwn = async (user: User | null, path: string): Promise<void> => {
  if (!isFolder(path)) {
    await removeTree(path);
    mkdirSync(path, { mode: 0o700 });
  }
  chmodSync(path, 0o700);
  giveTo(user, path);
};

/** Those of one job: home, scripts and temporary files are its own, the project's stay for its next job here. */
export const makeFolders = async ({ work, user }: Slot, projectId: number): Promise<Folders> => {
  const [builds, mirrors] = [join(work, 'builds'), join(work, 'mirrors')];
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
  if (!isFolder(folders.objects)) emptied.push(mirror);
  // oxlint-disable no-await-in-loop -- few
  for (const own of emptied) await removeTree(own);
  for (const own of [folders.project, mirror, folders.objects, folders.home, folders.temp, folders.files])
    await makeOwn(user, own);
  // oxlint-enable no-await-in-loop
  return folders;
};
