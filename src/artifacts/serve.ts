/** Bytes that jobs left, sent so that nothing in them is ever run on our origin. */
import { Readable } from 'node:stream';
import type { Call } from '../access/call.ts';
import { Answer } from '../http/endpoint.ts';
import { type ByteRange, disposition, parseRange } from '../http/range.ts';
import { nothingThere } from './failures.ts';
import { type Artifact, artifactBytes } from './store.ts';

const harmless = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export type Sent = {
  size: number;
  headers: Record<string, string>;
  open: (range: ByteRange | undefined) => Promise<Readable | null>;
};

/** All of it, or the part that was asked for. */
export const rangedAnswer = async (call: Call, { size, headers, open }: Sent): Promise<Answer> => {
  const range = parseRange(call.header('range'), size);
  if (range === 'unsatisfiable') {
    return new Answer(null, { status: 416, headers: { 'content-range': `bytes */${size}` } });
  }
  const length = range === null ? size : range.end - range.start + 1;
  const all = {
    ...harmless,
    ...headers,
    'accept-ranges': 'bytes',
    'content-length': String(length),
    ...(range !== null && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
  };
  const status = range === null ? 200 : 206;
  // Not null: of that, a length of 0 would be told.
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { status, headers: all });
  const bytes = await open(range ?? undefined);
  if (bytes === null) throw nothingThere();
  return new Answer(bytes, { status, headers: all });
};

/** @throws Failure 404 where its bytes are gone */
export const archiveAnswer = async (call: Call, artifact: Artifact): Promise<Answer> =>
  await rangedAnswer(call, {
    size: artifact.size,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': disposition('attachment', artifact.filename),
      'content-transfer-encoding': 'binary',
    },
    open: async (range) => await artifactBytes(call.platform, artifact, range),
  });

/** One file out of an archive; it is never opened as a page, whatever it is. */
export const fileAnswer = (
  headers: { type: string; name: string; size: number },
  content: Readable,
): Answer =>
  new Answer(content, {
    headers: {
      ...harmless,
      'content-type': headers.type,
      'content-disposition': disposition('attachment', headers.name),
      'content-length': String(headers.size),
    },
  });
