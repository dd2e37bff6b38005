import { Readable } from 'node:stream';
import type { Call } from '../../core/access/call.ts';
import { getProjectArea } from '../../platform/blob/blob_files.ts';
import { readVerified } from '../../platform/blob/verified_read.ts';
import { notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { type ByteRange, formatDisposition, parseRange } from '../../platform/http/range.ts';
import { svgHeaders, svgType } from '../../platform/http/svg.ts';
import { findProject } from '../projects/find.ts';
import { getImageType } from './rules.ts';

type StoredUpload = { project_id: number; file_name: string; size: number; sha256: string };

const findUpload = async (
  { db }: Call,
  projectId: number,
  secret: string,
  fileName: string,
): Promise<StoredUpload> => {
  const row = await db
    .selectFrom('uploads')
    .select(['project_id', 'file_name', 'size', 'sha256'])
    .where('project_id', '=', projectId)
    .where('secret', '=', secret)
    .executeTakeFirst();
  // The API strips `.json` from its own paths (`labels.json`).
  const isNamed = row?.file_name === fileName || row?.file_name === `${fileName}.json`;
  if (row === undefined || !isNamed) throw notFound();
  return row;
};

/** Headers that stop an upload from running as a page of this origin: no scripts, and only pictures open inline. */
const makeHeaders = ({ file_name, size, sha256 }: StoredUpload): Record<string, string> => {
  const type = getImageType(file_name, size);
  return {
    'content-type': type ?? 'application/octet-stream',
    'content-disposition': formatDisposition(type === null ? 'attachment' : 'inline', file_name),
    'content-security-policy': "default-src 'none'; sandbox",
    ...(type === svgType && svgHeaders),
    'cross-origin-resource-policy': 'same-origin',
    'accept-ranges': 'bytes',
    etag: `"${sha256}"`,
  };
};

const readRange = ({ header }: Call, { size, sha256 }: StoredUpload): ByteRange | 'unsatisfiable' | null => {
  const condition = header('if-range');
  const isSame = condition === undefined || condition === `"${sha256}"`;
  return isSame ? parseRange(header('range'), size) : null;
};

const isNotModified = ({ header }: Call, { sha256 }: StoredUpload): boolean =>
  header('if-none-match')
    ?.split(',')
    .some((one) => [`"${sha256}"`, `W/"${sha256}"`, '*'].includes(one.trim())) === true;

export type UploadAddress = { id: number | string; secret: string; filename: string };

/**
 * Serves a file to users who see its project.
 * @throws Failure 404, also for a hidden project
 */
export const serveUpload = async (call: Call, { id, secret, filename }: UploadAddress): Promise<Answer> => {
  const project = await findProject(call, id);
  const upload = await findUpload(call, project.id, secret, filename);
  const headers = makeHeaders(upload);
  if (isNotModified(call, upload)) {
    return new Answer(null, { status: 304, headers: { etag: headers['etag'] ?? '' } });
  }
  const range = readRange(call, upload);
  if (range === 'unsatisfiable') {
    return new Answer(null, { status: 416, headers: { 'content-range': `bytes */${upload.size}` } });
  }
  const length = range === null ? upload.size : range.end - range.start + 1;
  const contentHeaders = {
    ...headers,
    'content-length': String(length),
    ...(range !== null && { 'content-range': `bytes ${range.start}-${range.end}/${upload.size}` }),
  };
  const status = range === null ? 200 : 206;
  // HEAD: send the headers, including Content-Length, without a body.
  if (call.incoming.method === 'HEAD')
    return new Answer(Readable.from([]), { status, headers: contentHeaders });
  const { sha256, size } = upload;
  const area = getProjectArea(upload.project_id);
  const bytes =
    range === null
      ? await readVerified(call.platform, { area, sha256, size })
      : await call.platform.blobs.get(area, sha256, range, size);
  if (bytes === null) throw notFound();
  return new Answer(bytes, { status, headers: contentHeaders });
};
