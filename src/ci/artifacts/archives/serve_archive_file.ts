/** Reads one file of an archive without reading the others. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ZipDirectory, openZip } from '../../../../zip/read_directory.ts';
import { ZipFailure } from '../../../../zip/format.ts';
import { isSafeName } from '../../../../zip/safe_names.ts';
import { type ZipContent, readItem } from '../../../../zip/read_items.ts';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Answer } from '../../../platform/http/endpoint.ts';
import { getBlob } from '../store/artifact_blobs.ts';
import { badPathFailure, notFoundFailure } from '../failures.ts';
import { cacheBriefly } from '../reports/cache_briefly.ts';
import { serveArtifactFile } from './serve_file.ts';
import type { Artifact } from '../store/artifacts.ts';
import { getContentType } from '../store/content_types.ts';

/** Limits of a directory that is parsed within a tenth of a second, and small enough to cache. */
const limits = { entries: 100_000, directory: 16 * 1024 * 1024 };
/** Largest file, in bytes once unpacked. */
const maxFileBytes = 2_000 * 1024 * 1024;

/** Parsed directories, weighed by bytes of memory. */
const cachedDirectories = cacheBriefly<ZipDirectory>({
  maxWeight: 16 * 1024 * 1024,
  weightOf: ({ weight }) => weight,
});

type ArchiveKey = Pick<Artifact, 'project_id' | 'sha256' | 'size'>;

export const readContent = (platform: Platform, artifact: ArchiveKey): ZipContent => {
  const stream = async (start: number, end: number): Promise<Readable> => {
    if (end < start) return Readable.from([]);
    const bytes = await getBlob(platform, artifact, { start, end });
    if (bytes === null) throw notFoundFailure();
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

export const loadDirectory = async (
  content: ZipContent,
  { project_id, sha256 }: ArchiveKey,
): Promise<ZipDirectory> =>
  await cachedDirectories(`${project_id}/${sha256}`, async () => await openZip(content, limits));

/**
 * Normalizes the path of a request to the form that archives use.
 * @throws Failure 400 for anything but a path
 */
export const readPath = (sent: unknown): string => {
  const isText = typeof sent === 'string' && sent.isWellFormed() && !sent.includes('\\');
  if (!isText || !isSafeName(sent) || sent.includes('\ufffd')) throw badPathFailure();
  return sent;
};

/** @throws Failure 404 for a path that is missing, a folder or a link, and for an invalid archive */
export const serveArchiveFile = async (call: Call, artifact: Artifact, path: string): Promise<Answer> => {
  if (artifact.file_format !== 'zip') throw notFoundFailure();
  const content = readContent(call.platform, artifact);
  try {
    const item = (await loadDirectory(content, artifact)).find(path);
    if (item?.kind !== 'file') throw notFoundFailure();
    const headers = {
      type: getContentType(path),
      name: path.slice(path.lastIndexOf('/') + 1),
      size: item.size,
    };
    const isRequested = call.incoming.method !== 'HEAD';
    return serveArtifactFile(
      headers,
      isRequested ? await readItem(content, item, maxFileBytes) : Readable.from([]),
    );
  } catch (error) {
    if (error instanceof ZipFailure) throw notFoundFailure();
    throw error;
  }
};
