/** Streams an archive of a commit's files. The same commit gives the same bytes. */
import { Readable } from 'node:stream';
import { takeDownloadSlot } from '../../../core/access/anonymous_slots.ts';
import type { Call } from '../../../core/access/call.ts';
import { Failure, notFound } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { formatDisposition } from '../../../platform/http/range.ts';
import type { Code } from '../find_code.ts';
import { isPlainPath, stripSlashes } from './paths.ts';
import { requireRef } from '../refs/resolve.ts';
import { peekFirstChunk } from './serve_blob.ts';
import { callClient } from '../refs/transfer_access.ts';

type Format = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';

const spellings: Record<string, Format> = {
  tar: 'tar',
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  zip: 'zip',
};

const types: Record<Format, string> = {
  tar: 'application/x-tar',
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  zip: 'application/zip',
};

const unknownFormat = (format: string): Failure =>
  new Failure('not_acceptable', { error: `The requested format '${format}' is not supported.` });

const plain = (text: string): string => text.replaceAll('/', '-');

/** Returns `project-main-<sha>`: the name of the archive and of its root folder. */
const archiveName = ({ project }: Code, ref: string, commit: string, path: string): string =>
  [project.path, ...(ref === commit ? [] : [plain(ref)]), commit, ...(path === '' ? [] : [plain(path)])].join(
    '-',
  );

type ArchiveRequest = { sha?: string | undefined; path?: string | undefined; format?: string | undefined };

const missing = new Set(['missing', 'invalid']);

const readArchive = async (call: Call, code: Code, request: ArchiveRequest): Promise<Answer> => {
  const sent = request.format === undefined || request.format === '' ? 'tar.gz' : request.format;
  const format = Object.hasOwn(spellings, sent) ? spellings[sent] : undefined;
  if (format === undefined) throw unknownFormat(sent);
  const requestedRef = request.sha === undefined || request.sha === '' ? undefined : request.sha;
  const { commit } = await requireRef(code, requestedRef, 'File');
  const path = stripSlashes(request.path ?? '');
  if (!isPlainPath(path)) throw notFound('File');
  const name = archiveName(code, requestedRef ?? code.project.default_branch ?? commit, commit, path);
  const headers = {
    'content-type': types[format],
    'content-disposition': formatDisposition('attachment', `${name}.${format}`),
  };
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { headers });
  const stream = await code.repository.stream('archive.read', {
    commit,
    format,
    prefix: `${name}/`,
    client: callClient(call),
    ...(path !== '' && { path }),
  });
  stream.writable.end();
  try {
    // Errors are reported before the first byte.
    await peekFirstChunk(stream.readable);
  } catch (error) {
    stream.destroy();
    if (isGitFailure(error) && missing.has(error.kind)) throw notFound('File');
    throw error;
  }
  return new Answer(stream.readable, { headers });
};

/**
 * Serves an archive. An anonymous caller has a place until the last byte.
 * @throws Failure 404 for an unknown commit or path, 406 for an unknown format, 429 when too many anonymous callers wait
 */
export const archiveAnswer = async (call: Call, code: Code, request: ArchiveRequest): Promise<Answer> => {
  const release = await takeDownloadSlot({ call });
  try {
    const answer = await readArchive(call, code, request);
    // The body of an answer to HEAD is not read.
    if (answer.body instanceof Readable && call.incoming.method !== 'HEAD')
      answer.body.once('close', release);
    else release();
    return answer;
  } catch (error) {
    release();
    throw error;
  }
};
