/** Serves files of jobs with headers that keep a browser from running them on our origin. */
import { Readable } from 'node:stream';
import type { Call } from '../../../core/access/call.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { type ByteRange, formatDisposition, parseRange } from '../../../platform/http/range.ts';
import { notFoundFailure } from '../failures.ts';
import { type Artifact, openArtifact } from '../store/artifacts.ts';

const safeHeaders = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export type ServedFile = {
  size: number;
  headers: Record<string, string>;
  open: (range: ByteRange | undefined) => Promise<Readable | null>;
};

/** Answers with the whole file, or with the range that the request names. */
export const serveRange = async (call: Call, { size, headers, open }: ServedFile): Promise<Answer> => {
  const range = parseRange(call.header('range'), size);
  if (range === 'unsatisfiable') {
    return new Answer(null, { status: 416, headers: { 'content-range': `bytes */${size}` } });
  }
  const length = range === null ? size : range.end - range.start + 1;
  const contentHeaders = {
    ...safeHeaders,
    ...headers,
    'accept-ranges': 'bytes',
    'content-length': String(length),
    ...(range !== null && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
  };
  const status = range === null ? 200 : 206;
  // Not null: Node would then send a content-length of 0.
  if (call.incoming.method === 'HEAD')
    return new Answer(Readable.from([]), { status, headers: contentHeaders });
  const bytes = await open(range ?? undefined);
  if (bytes === null) throw notFoundFailure();
  return new Answer(bytes, { status, headers: contentHeaders });
};

/** @throws Failure 404 if its bytes are missing */
export const serveArchive = async (call: Call, artifact: Artifact): Promise<Answer> =>
  await serveRange(call, {
    size: artifact.size,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': formatDisposition('attachment', artifact.filename),
      'content-transfer-encoding': 'binary',
    },
    open: async (range) => await openArtifact(call.platform, artifact, range),
  });

/** Serves one file of an archive as a download, whatever its type is. */
export const serveArtifactFile = (
  headers: { type: string; name: string; size: number },
  content: Readable,
): Answer =>
  new Answer(content, {
    headers: {
      ...safeHeaders,
      'content-type': headers.type,
      'content-disposition': formatDisposition('attachment', headers.name),
      'content-length': String(headers.size),
    },
  });
