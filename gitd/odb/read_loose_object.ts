/** Reads a loose object from a folder of objects, without git: what git wrote to a quarantine. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { isMissing } from '../disk/is_missing.ts';
import { GitError } from '../git_error.ts';
import type { Oid } from '../protocol_records.ts';
import type { ObjectKind } from './loose_object_writer.ts';

const inflateAsync = promisify(inflate) as (data: Buffer, options: object) => Promise<Buffer>;

/** Bytes of the header, such as `blob 12345`. */
const maxHeaderBytes = 64;

const readSmallFile = async (path: string, max: number): Promise<Buffer | null> => {
  try {
    // Compression may make what is small a little larger.
    if ((await stat(path)).size > max + maxHeaderBytes + 1024)
      throw new GitError('too_large', 'an object is too large');
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Returns an object; null if the folder has no such loose object. @throws GitError `too_large` past `max` bytes */
export const readLooseObject = async (
  objects: string,
  id: Oid,
  max: number,
): Promise<{ type: ObjectKind; data: Buffer } | null> => {
  const packed = await readSmallFile(join(objects, id.slice(0, 2), id.slice(2)), max);
  if (packed === null) return null;
  const whole = await inflateAsync(packed, { maxOutputLength: max + maxHeaderBytes }).catch(
    (error: unknown) => {
      if ((error as { code?: unknown }).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
      throw new GitError('too_large', 'an object is too large');
    },
  );
  const end = whole.indexOf(0);
  const [type = ''] = whole.toString('latin1', 0, Math.max(0, end)).split(' ');
  return { type: type as ObjectKind, data: whole.subarray(end + 1) };
};
