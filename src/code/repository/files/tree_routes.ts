import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { tooLarge } from '../../../platform/http/failure.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, int, object, optional, string, text } from '../../../platform/http/schema.ts';
import { type Code, projectParam, storageSight } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { maxJsonFileBytes, maxBytesInMemory } from '../limits.ts';
import { listFolder } from './list_folder.ts';
import { pathParam } from './paths.ts';
import { requireRef } from '../refs/resolve.ts';
import { streamedAnswer, wholeAnswer } from './serve_blob.ts';

const area = 'repositories';
const repository = '/projects/:id/repository';

const tree = endpoint({
  method: 'GET',
  path: `${repository}/tree`,
  cached: true,
  summary: 'List files and folders of a folder',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    id: projectParam,
    path: optional(pathParam('path of the folder')),
    ref: optional(
      text({ maxLength: 1000, description: 'branch, tag or commit; default: the default branch' }),
    ),
    recursive: boolean({ default: false }),
    ...pageParams,
  }),
  reply: object({ id: string, name: string, type: string, path: string, mode: string }),
  list: true,
  handle: async (call, { id, path: requestedPath = '', ref, recursive, ...params }) => {
    const code = await findCachedCode(call, id);
    const { commit } = await requireRef(code, ref, 'Tree');
    const { limit, offset } = pageRequest(params);
    const listing = await listFolder(code, { commit, path: requestedPath, recursive, offset, limit });
    if (listing === null) throw notFound('invalid revision or path');
    return { items: listing.entries, total: listing.total };
  },
});

/** Requires a full id: the meaning of an abbreviated one can change. */
const blobId = (sha: string): string => {
  if (!/^[0-9a-f]{40}$/i.test(sha)) throw notFound('Blob');
  return sha.toLowerCase();
};

const readBlob = async (code: Code, sha: string, max: number) => {
  const id = blobId(sha);
  const { result, body } = await code.repository.read('blob.get', { id, max, ...storageSight(code) });
  if (result === null) throw notFound('Blob');
  return { id, size: result.size, whole: result.whole, body };
};

const blobParams = { id: projectParam, sha: text({ description: 'id of the blob' }) };

const blob = endpoint({
  method: 'GET',
  path: `${repository}/blobs/:sha`,
  summary: 'Get a blob with base64 content',
  area,
  audience: 'optional',
  params: object(blobParams),
  reply: object({ size: int, encoding: string, content: string, sha: string }),
  handle: async (call, { id, sha }) => {
    const content = await readBlob(await findCachedCode(call, id), sha, maxJsonFileBytes);
    if (!content.whole) throw tooLarge();
    const { size, body } = content;
    return { size, encoding: 'base64', content: body.toString('base64'), sha: content.id };
  },
});

const rawBlobAnswer = async (call: Call, code: Code, sha: string) => {
  const { id, size, whole, body } = await readBlob(code, sha, maxBytesInMemory);
  const servedFile = { name: id, size };
  if (whole) return wholeAnswer(body, servedFile);
  return await streamedAnswer(call, code.repository, { id }, servedFile);
};

const rawBlob = endpoint({
  method: 'GET',
  path: `${repository}/blobs/:sha/raw`,
  summary: 'Get the raw content of a blob',
  area,
  audience: 'optional',
  params: object(blobParams),
  reply: null,
  content: '*/*',
  handle: async (call, { id, sha }) => await rawBlobAnswer(call, await findCachedCode(call, id), sha),
});

export const treeRoutes = [tree, blob, rawBlob];
