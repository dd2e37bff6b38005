/** One file out of an archive, without reading the others. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ZipDirectory, openZip } from '../../zip/directory.ts';
import { ZipFailure } from '../../zip/format.ts';
import { isSafeName } from '../../zip/names.ts';
import { type ZipContent, readItem } from '../../zip/read.ts';
import type { Call, Platform } from '../access/call.ts';
import type { Answer } from '../http/endpoint.ts';
import { getBytes } from './bytes.ts';
import { badPath, nothingThere } from './failures.ts';
import { remembering } from './remember.ts';
import { fileAnswer } from './serve.ts';
import type { Artifact } from './store.ts';
import { typeOf } from './types.ts';

/** What is read within a tenth of a second, and can be remembered. */
const limits = { entries: 100_000, directory: 16 * 1024 * 1024 };
/** Bytes of one file, once it is unpacked. */
const largestFile = 2_000 * 1024 * 1024;

/** By bytes of memory. */
const remembered = remembering<ZipDirectory>({ most: 16 * 1024 * 1024, weightOf: ({ weight }) => weight });

type Found = Pick<Artifact, 'project_id' | 'sha256' | 'size'>;

export const contentOf = (platform: Platform, artifact: Found): ZipContent => {
  const stream = async (start: number, end: number): Promise<Readable> => {
    if (end < start) return Readable.from([]);
    const bytes = await getBytes(platform, artifact, { start, end });
    if (bytes === null) throw nothingThere();
    return bytes;
  };
  return {
    size: artifact.size,
    stream,
    read: async (start, length) => {
      const bytes = await buffer(await stream(start, start + length - 1));
      if (bytes.length < length) throw new ZipFailure('the archive is damaged');
      return bytes;
    },
  };
};

export const directoryOf = async (
  content: ZipContent,
  { project_id, sha256 }: Found,
): Promise<ZipDirectory> =>
  await remembered(`${project_id}/${sha256}`, async () => await openZip(content, limits));

/**
 * A path as an archive may have it. What was sent may be anything.
 * @throws Failure 400
 */
export const readPath = (sent: unknown): string => {
  const isText = typeof sent === 'string' && sent.isWellFormed() && !sent.includes('\\');
  if (!isText || !isSafeName(sent) || sent.includes('\ufffd')) throw badPath();
  return sent;
};

/** @throws Failure 404 for a file that is not in it, a folder or a link, and for an archive that is none */
export const browse = async (call: Call, artifact: Artifact, path: string): Promise<Answer> => {
  if (artifact.file_format !== 'zip') throw nothingThere();
  const content = contentOf(call.platform, artifact);
  try {
    const item = (await directoryOf(content, artifact)).find(path);
    if (item?.kind !== 'file') throw nothingThere();
    const headers = { type: typeOf(path), name: path.slice(path.lastIndexOf('/') + 1), size: item.size };
    const isAsked = call.incoming.method !== 'HEAD';
    return fileAnswer(headers, isAsked ? await readItem(content, item, largestFile) : Readable.from([]));
  } catch (error) {
    if (error instanceof ZipFailure) throw nothingThere();
    throw error;
  }
};
