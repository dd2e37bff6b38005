/** Manages the folders of one slot: its lock, its present job, and the job's folders. */
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
import type { Folders } from '../executors/executor.ts';
import { getIdentity, isAlive } from '../executors/processes.ts';
import type { User } from '../executors/run_process.ts';
import { getSlotUser } from '../executors/job_users.ts';
import type { Job } from '../coordinator/protocol.ts';

export type Slot = {
  number: number;
  /** Private to the runner. */
  folder: string;
  /** Folder of the jobs' folders. Owned by the runner, so that jobs cannot replace them. */
  work: string;
  user: User | null;
  release: () => void;
};

/** The log of a slot's present job. */
export const traceFile = (slotFolder: string): string => join(slotFolder, 'trace');

/** Changes the owner to the jobs' user. */
export const changeOwner = (user: User | null, path: string): void => {
  if (user !== null) chownSync(path, user.uid, user.gid);
};

/** Names a project's folder by its key: ids may be reused after a restore. */
export const projectFolder = ({ job_info: { project_id, project_key } }: Pick<Job, 'job_info'>): string =>
  /^[0-9a-f]{16,64}$/.test(project_key ?? '') ? `${project_id}-${project_key}` : String(project_id);

/** Writes a new file for the jobs' user. Replaces a link left in its place, never follows it. */
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

const readHolder = (lock: string): string => {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return '';
  }
};

/** Locks of this process. A lock with its pid that is not listed predates a restart of the machine. */
const mine = new Set<string>();

/** Takes the lock; returns whether it succeeded. Takes over the lock of a dead process. */
const take = (lock: string): boolean => {
  if (mine.has(lock)) return false;
  const me = getIdentity(process.pid) ?? `${process.pid}:`;
  const holder = readHolder(lock);
  if (holder !== '') {
    if (holder !== me && isAlive(holder)) return false;
    rmSync(lock, { force: true });
  }
  try {
    writeFileSync(lock, me, { flag: 'wx', mode: 0o600 });
    mine.add(lock);
    return true;
  } catch {
    return false; // another process was faster
  }
};

/** Takes a slot; null if it is in use. */
export const takeNumber = (root: string, number: number, drops: boolean): Slot | null => {
  const folder = join(root, 'slots', String(number));
  const work = join(folder, 'work');
  const user = drops ? getSlotUser(root, number) : null;
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

/**
 * Takes the first free slot.
 * @param held numbers in use by this process
 */
export const takeSlot = (root: string, held: ReadonlySet<number>, drops: boolean): Slot => {
  for (let number = 0; ; number += 1) {
    const slot = held.has(number) ? null : takeNumber(root, number, drops);
    if (slot !== null) return slot;
  }
};

/** Removes a tree, also with unreadable files or paths beyond the system's limit. */
export const removeTree = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    const run = promisify(execFile);
    await run('/bin/chmod', ['-R', 'u+rwX', '--', path]).catch(() => undefined);
    await run('/bin/rm', ['-rf', '--', path]);
  }
};

/** Reuses a folder of this user's jobs; another user's is never touched. */
const isFolder = (user: User | null, path: string): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (user === null || stats.uid === user.uid);
};

/** Gives the folder to the jobs' user, whatever its current permissions. */
const makeOwn = async (user: User | null, path: string): Promise<void> => {
  if (!isFolder(user, path)) {
    await removeTree(path);
    mkdirSync(path, { mode: 0o700 });
  }
  chmodSync(path, 0o700);
  changeOwner(user, path);
};

/**
 * Creates the folders of one job: new home, scripts and temporary files; project files stay for its next job.
 * @param project name of the project's folders
 * @param name of the folder of all projects
 */
export const makeFolders = async ({ work, user }: Slot, project: string, name: string): Promise<Folders> => {
  const [builds, mirrors] = [join(work, name), join(work, 'mirrors')];
  const mirror = join(mirrors, project);
  const folders: Folders = {
    project: join(builds, project),
    objects: join(mirror, 'objects'),
    home: join(work, 'home'),
    temp: join(work, 'temp'),
    files: join(work, 'files'),
  };
  // Jobs may traverse these folders but not write to them.
  for (const above of [builds, mirrors]) {
    mkdirSync(above, { recursive: true, mode: 0o700 });
    if (user !== null) chmodSync(above, 0o711);
  }
  const emptied = [folders.home, folders.temp, folders.files];
  if (!isFolder(user, folders.objects)) emptied.push(mirror);
  for (const own of emptied) await removeTree(own);
  for (const own of [folders.project, mirror, folders.objects, folders.home, folders.temp, folders.files])
    await makeOwn(user, own);
  // Must not happen earlier: a container may have left the folder open to all users.
  if (user !== null) chmodSync(work, 0o711);
  const now = new Date();
  for (const used of [folders.project, mirror]) utimesSync(used, now, now);
  return folders;
};
