/** A file as it is: never run in a browser on our origin, whatever is in it. */
import { Readable } from 'node:stream';
import { once } from 'node:events';
import type { Call } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Repository } from '../git/repository.ts';
import { Answer } from '../http/endpoint.ts';
import { disposition } from '../http/range.ts';
import { callClient } from './transfer.ts';

/** Bytes by which git, too, tells a text from other files. */
const looked = 8_000;

const isText = (start: Buffer): boolean => !start.subarray(0, looked).includes(0);

/** Any text as plain text, HTML too; nothing that it refers to is loaded. */
const fileHeaders = (name: string, start: Buffer): Record<string, string> => ({
  'content-type': isText(start) ? 'text/plain; charset=utf-8' : 'application/octet-stream',
  'content-disposition': disposition('inline', name),
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
});

/** The first piece, which stays to be read; empty: there is none. */
export const peek = async (readable: Readable): Promise<Buffer> => {
  if (readable.readableLength === 0 && !readable.readableEnded) {
    await Promise.race([once(readable, 'readable'), once(readable, 'end')]);
  }
  const piece = readable.read() as Buffer | null;
  if (piece === null) return Buffer.alloc(0);
  readable.unshift(piece);
  return piece;
};

export type Served = { name: string; size: number; headers?: Record<string, string> };

/** All of a file that is in memory. */
export const wholeAnswer = (body: Buffer, { name, headers = {} }: Served): Answer =>
  new Answer(body, { headers: { ...fileHeaders(name, body), ...headers } });

type Place = { commit: string; path: string } | { id: string };

/**
 * A large file, sent as it comes. Of one who only asks for its headers, nothing is read but its start.
 * @throws Failure 404 where it is gone
 */
export const streamedAnswer = async (
  call: Call,
  repository: Repository,
  place: Place,
  { name, size, headers = {} }: Served,
): Promise<Answer> => {
  const stream = await repository.stream('blob.read', { ...place, client: callClient(call) });
  stream.writable.end();
  try {
    const start = await peek(stream.readable);
    const all = { ...fileHeaders(name, start), 'content-length': String(size), ...headers };
    if (call.incoming.method !== 'HEAD') return new Answer(stream.readable, { headers: all });
    stream.destroy();
    // Not null: of that, a length of 0 would be told.
    return new Answer(Readable.from([]), { headers: all });
  } catch (error) {
    stream.destroy();
    if (isGitFailure(error, 'missing')) throw notFound('File');
    throw error;
  }
};
