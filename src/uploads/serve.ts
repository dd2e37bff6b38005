import { Readable } from 'node:stream';
import type { Call } from '../access/call.ts';
import { projectArea } from '../blob/files.ts';
import { notFound } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { type ByteRange, disposition, parseRange } from '../http/range.ts';
import { findProject } from '../projects/find.ts';
import { pictureType } from './rules.ts';

type Found = { project_id: number; file_name: string; size: number; sha256: string };

const findUpload = async (
  { db }: Call,
  projectId: number,
  secret: string,
  fileName: string,
): Promise<Found> => {
  const row = await db
    .selectFrom('uploads')
    .select(['project_id', 'file_name', 'size', 'sha256'])
    .where('project_id', '=', projectId)
    .where('secret', '=', secret)
    .executeTakeFirst();
  // The API drops `.json` behind its own words (`labels.json`).
  const isNamed = row?.file_name === fileName || row?.file_name === `${fileName}.json`;
  if (row === undefined || !isNamed) throw notFound();
  return row;
};

/** Never a page of ours: nothing in it runs, and but for a picture it is to be saved. */
const headersOf = ({ file_name, sha256 }: Found): Record<string, string> => {
  const type = pictureType(file_name);
  return {
    'content-type': type ?? 'application/octet-stream',
    'content-disposition': disposition(type === null ? 'attachment' : 'inline', file_name),
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'accept-ranges': 'bytes',
    etag: `"${sha256}"`,
  };
};

const rangeOf = ({ header }: Call, { size, sha256 }: Found): ByteRange | 'unsatisfiable' | null => {
  const condition = header('if-range');
  const isSame = condition === undefined || condition === `"${sha256}"`;
  return isSame ? parseRange(header('range'), size) : null;
};

const isKnown = ({ header }: Call, { sha256 }: Found): boolean =>
  header('if-none-match')
    ?.split(',')
    .some((one) => [`"${sha256}"`, `W/"${sha256}"`, '*'].includes(one.trim())) === true;

export type Address = { id: number | string; secret: string; filename: string };

/**
 * A file, for those who see its project: for others it is not there.
 * @throws Failure 404
 */
export const serveUpload = async (call: Call, { id, secret, filename }: Address): Promise<Answer> => {
  const project = await findProject(call, id);
  const found = await findUpload(call, project.id, secret, filename);
  const headers = headersOf(found);
  if (isKnown(call, found)) {
    return new Answer(null, { status: 304, headers: { etag: headers['etag'] ?? '' } });
  }
  const range = rangeOf(call, found);
  if (range === 'unsatisfiable') {
    return new Answer(null, { status: 416, headers: { 'content-range': `bytes */${found.size}` } });
  }
  const length = range === null ? found.size : range.end - range.start + 1;
  const all = {
    ...headers,
    'content-length': String(length),
    ...(range !== null && { 'content-range': `bytes ${range.start}-${range.end}/${found.size}` }),
  };
  const status = range === null ? 200 : 206;
  // Without the file's bytes, but with their number.
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { status, headers: all });
  const bytes = await call.platform.blobs.get(
    projectArea(found.project_id),
    found.sha256,
    range ?? undefined,
    found.size,
  );
  if (bytes === null) throw notFound();
  return new Answer(bytes, { status, headers: all });
};
