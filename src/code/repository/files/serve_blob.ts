/** Serves raw files. Headers prevent browsers from executing them on our origin. */
import { Readable } from 'node:stream';
import { once } from 'node:events';
import type { Call } from '../../../core/access/call.ts';
import { notFound } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { formatDisposition } from '../../../platform/http/range.ts';
import { callClient } from '../refs/transfer_access.ts';

/** Bytes examined to detect binary files, as git does. */
const sniffedBytes = 8_000;

export const isText = (start: Buffer): boolean => !start.subarray(0, sniffedBytes).includes(0);

/** Returns headers that serve text, including HTML, as plain text and forbid loading other resources. */
const fileHeaders = (name: string, start: Buffer): Record<string, string> => ({
  'content-type': isText(start) ? 'text/plain; charset=utf-8' : 'application/octet-stream',
  'content-disposition': formatDisposition('inline', name),
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
});

/** Returns the first chunk without consuming it; empty at the end of the stream. */
export const peekFirstChunk = async (readable: Readable): Promise<Buffer> => {
  if (readable.readableLength === 0 && !readable.readableEnded) {
    await Promise.race([once(readable, 'readable'), once(readable, 'end')]);
  }
  const piece = readable.read() as Buffer | null;
  if (piece === null) return Buffer.alloc(0);
  readable.unshift(piece);
  return piece;
};

export type ServedFile = { name: string; size: number; headers?: Record<string, string> };

/** Serves a file from memory. */
export const wholeAnswer = (body: Buffer, { name, headers = {} }: ServedFile): Answer =>
  new Answer(body, { headers: { ...fileHeaders(name, body), ...headers } });

type BlobLocation = { commit: string; path: string } | { id: string };

/**
 * Streams a large file. A HEAD request reads only its start.
 * @throws Failure 404 if it no longer exists
 */
export const streamedAnswer = async (
  call: Call,
  repository: Repository,
  location: BlobLocation,
  { name, size, headers = {} }: ServedFile,
): Promise<Answer> => {
  const stream = await repository.stream('blob.read', { ...location, client: callClient(call) });
  stream.writable.end();
  try {
    const start = await peekFirstChunk(stream.readable);
    const allHeaders = { ...fileHeaders(name, start), 'content-length': String(size), ...headers };
    if (call.incoming.method !== 'HEAD') return new Answer(stream.readable, { headers: allHeaders });
    stream.destroy();
    // Not null: a null body would set the length to 0.
    return new Answer(Readable.from([]), { headers: allHeaders });
  } catch (error) {
    stream.destroy();
    if (isGitFailure(error, 'missing')) throw notFound('File');
    throw error;
  }
};
