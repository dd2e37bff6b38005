/**
 * Writes loose objects as git does, without git: durable once `flush` has answered. The temporary files are
 * called as git calls its own, so that `git prune` removes what a kill left behind.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import type { Oid } from '../protocol.ts';
import { syncFolder } from '../storage/durable.ts';

export type ObjectKind = 'blob' | 'tree' | 'commit' | 'tag';

/** Objects on their way to the disk. */
export type ObjectWriter = {
  /** Answers the id at once; nothing is written before `flush`. */
  add: (kind: ObjectKind, content: Uint8Array) => Oid;
  /** The ids of what was added. */
  ids: () => Oid[];
  /** Writes what was added. With the answer it is on the disk, names of files and folders included. */
  flush: () => Promise<void>;
};

type Pending = { header: Buffer; content: Uint8Array };

const atOnce = 8;
/** Above this, packing is done off the event loop. */
const largeFrom = 64 * 1024;
const deflateLater = promisify(deflate) as (data: Uint8Array, options: { level: number }) => Promise<Buffer>;

const headerOf = (kind: ObjectKind, content: Uint8Array): Buffer =>
  Buffer.from(`${kind} ${content.length}\0`, 'latin1');

export const oidOf = (kind: ObjectKind, content: Uint8Array): Oid =>
  createHash('sha1').update(headerOf(kind, content)).update(content).digest('hex');

/** Runs `work` on all, so many at once. */
export const eachAtOnce = async <T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> => {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      await work(next.value); // oxlint-disable-line no-await-in-loop -- this is the limit
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

/**
 * Puts something into a folder, which is made where it is missing: also when housekeeping takes it away, as it does
 * with empty ones, just before something gets into it.
 */
export const putInFolder = async <T>(folder: string, put: () => Promise<T>, tries = 3): Promise<T> => {
  try {
    return await put();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 1) throw error;
    await mkdir(folder, { recursive: true });
    return putInFolder(folder, put, tries - 1);
  }
};

/** Whether it is there; if so, it counts as new again, so that no housekeeping takes it from under us. */
const freshen = async (path: string): Promise<boolean> => {
  const now = Date.now() / 1000;
  try {
    await utimes(path, now, now);
    return true;
  } catch {
    return false;
  }
};

const packed = async ({ header, content }: Pending): Promise<Buffer> => {
  const whole = Buffer.concat([header, content]);
  return whole.length > largeFrom ? deflateLater(whole, { level: 1 }) : deflateSync(whole, { level: 1 });
};

/**
 * @param objects the folder of objects: `<repository>/objects`
 * @param durable false for objects that live no longer than the call
 */
export const makeObjectWriter = (objects: string, durable = true): ObjectWriter => {
  const pending = new Map<Oid, Pending>();

  const write = async (id: Oid, object: Pending): Promise<void> => {
    const folder = join(objects, id.slice(0, 2));
    const path = join(folder, id.slice(2));
    if (await freshen(path)) return;
    const temporary = join(folder, `tmp_obj_${randomBytes(9).toString('base64url')}`);
    const bytes = await packed(object);
    const file = await putInFolder(folder, async () => open(temporary, 'wx', 0o444));
    try {
      await file.writeFile(bytes);
      if (durable) await file.sync();
      await file.close();
      await rename(temporary, path);
    } catch (error) {
      await file.close().catch(() => undefined);
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  };

  return {
    add: (kind, content) => {
      const id = oidOf(kind, content);
      if (!pending.has(id)) pending.set(id, { header: headerOf(kind, content), content });
      return id;
    },
    ids: () => [...pending.keys()],
    flush: async () => {
      const folders = new Set([...pending.keys()].map((id) => join(objects, id.slice(0, 2))));
      await eachAtOnce(pending, ([id, object]) => write(id, object));
      pending.clear();
      if (!durable) return;
      // Also of what another call is just writing, an object or a folder: it may not have come to this yet.
      await eachAtOnce(folders, async (folder) => void (await syncFolder(folder)));
      await syncFolder(objects);
    },
  };
};
