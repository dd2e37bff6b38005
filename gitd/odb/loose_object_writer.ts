/**
 * Writes loose objects without git; durable once `flush` resolves, unless made with `durable: false`. Temporary files
 * are named like git's, so that `git prune` removes them after a crash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { open, rename, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import type { Oid } from '../protocol_records.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { retryWithFolder } from '../disk/retry_with_folder.ts';
import { syncFolder } from '../disk/sync_folders.ts';

export type ObjectKind = 'blob' | 'tree' | 'commit' | 'tag';

/** Collects objects and writes them together. */
export type ObjectWriter = {
  /** Adds an object and returns its id; nothing is written before `flush`. */
  add: (kind: ObjectKind, content: Uint8Array) => Oid;
  /** Ids of the objects added since the last flush. */
  ids: () => Oid[];
  /** Writes the added objects. When it resolves, the files of a durable writer and their directory entries are on disk. */
  flush: () => Promise<void>;
};

type Pending = { header: Buffer; content: Uint8Array };

/** Bytes above which compression runs off the event loop. */
const asyncDeflateAbove = 64 * 1024;
const deflateAsync = promisify(deflate) as (data: Uint8Array, options: { level: number }) => Promise<Buffer>;

const buildHeader = (kind: ObjectKind, content: Uint8Array): Buffer =>
  Buffer.from(`${kind} ${content.length}\0`, 'latin1');

export const hashObject = (kind: ObjectKind, content: Uint8Array): Oid =>
  createHash('sha1').update(buildHeader(kind, content)).update(content).digest('hex');

/** Refreshes the modification time of the file, so that `git prune` keeps it. Returns whether the file exists. */
const freshen = async (path: string): Promise<boolean> => {
  const now = Date.now() / 1000;
  try {
    await utimes(path, now, now);
    return true;
  } catch {
    return false;
  }
};

const compress = async ({ header, content }: Pending): Promise<Buffer> => {
  const whole = Buffer.concat([header, content]);
  return whole.length > asyncDeflateAbove
    ? deflateAsync(whole, { level: 1 })
    : deflateSync(whole, { level: 1 });
};

/**
 * @param objectsDir `<repository>/objects`
 * @param durable false for objects that are discarded at the end of the request
 */
export const makeObjectWriter = (objectsDir: string, durable = true): ObjectWriter => {
  const pending = new Map<Oid, Pending>();

  const write = async (id: Oid, object: Pending): Promise<void> => {
    const folder = join(objectsDir, id.slice(0, 2));
    const path = join(folder, id.slice(2));
    if (await freshen(path)) return;
    const temporary = join(folder, `tmp_obj_${randomBytes(9).toString('base64url')}`);
    const bytes = await compress(object);
    const file = await retryWithFolder(folder, async () => open(temporary, 'wx', 0o444));
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
      const folders = new Set([...pending.keys()].map((id) => join(objectsDir, id.slice(0, 2))));
      await forEachConcurrently(pending, ([id, object]) => write(id, object));
      pending.clear();
      if (!durable) return;
      // Objects that existed already count, too: another call may have written them without having synced the folder yet.
      await forEachConcurrently(folders, async (folder) => void (await syncFolder(folder)));
      await syncFolder(objectsDir);
    },
  };
};
