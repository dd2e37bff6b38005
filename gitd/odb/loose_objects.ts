/**
 * Writes loose objects without git; durable once `flush` resolves. Temporary files are named as git's, so that `git
 * prune` removes them after a crash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import type { Oid } from '../protocol_records.ts';
import { syncFolder } from '../disk/sync_folders.ts';

export type ObjectKind = 'blob' | 'tree' | 'commit' | 'tag';

/** Collects objects and writes them together. */
export type ObjectWriter = {
  /** Adds an object and returns its id; nothing is written before `flush`. */
  add: (kind: ObjectKind, content: Uint8Array) => Oid;
  /** Ids of the added objects. */
  ids: () => Oid[];
  /** Writes the added objects. They are on disk when it resolves, with the names of files and folders. */
  flush: () => Promise<void>;
};

type Pending = { header: Buffer; content: Uint8Array };

const atOnce = 8;
/** Bytes above which compression runs off the event loop. */
const largeFrom = 64 * 1024;
const deflateLater = promisify(deflate) as (data: Uint8Array, options: { level: number }) => Promise<Buffer>;

const buildHeader = (kind: ObjectKind, content: Uint8Array): Buffer =>
  Buffer.from(`${kind} ${content.length}\0`, 'latin1');

export const hashObject = (kind: ObjectKind, content: Uint8Array): Oid =>
  createHash('sha1').update(buildHeader(kind, content)).update(content).digest('hex');

/** Runs `work` on all items, a fixed number at a time. */
export const forEachConcurrently = async <T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) {
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

/**
 * Writes into a folder and creates it if needed, also when housekeeping removes the empty folder at the same moment.
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

/** Whether the file exists. If so, refreshes its time, so that housekeeping does not remove it. */
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
 * Makes a writer.
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
      const id = hashObject(kind, content);
      if (!pending.has(id)) pending.set(id, { header: buildHeader(kind, content), content });
      return id;
    },
    ids: () => [...pending.keys()],
    flush: async () => {
      const folders = new Set([...pending.keys()].map((id) => join(objects, id.slice(0, 2))));
      await forEachConcurrently(pending, ([id, object]) => write(id, object));
      pending.clear();
      if (!durable) return;
      // Also for objects that another call is writing: it may not have synced them yet.
      await forEachConcurrently(folders, async (folder) => void (await syncFolder(folder)));
      await syncFolder(objects);
    },
  };
};
