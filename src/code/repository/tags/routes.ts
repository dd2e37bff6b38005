import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { longText, object, oneOf, optional, text } from '../../../platform/http/schema.ts';
import type { Ref } from '../../../platform/git/protocol_types.ts';
import { findCodeForPush } from '../branches/create.ts';
import { requireTagPermission } from '../refs/authorized_ref_changes.ts';
import { type Code, findCode, projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { loadProtectedTags } from '../protection/rules.ts';
import { loadTagSignature, signatureJson, tagSignatureShape } from '../signatures/commit_signature.ts';
import { listTags, requireTag } from './list.ts';
import { releaseOfTagShape, tagShape, tagsJson } from './json.ts';
import { addRelease, changeRelease, createTag, deleteTag } from './change_tags.ts';

const area = 'tags';
const tags = '/projects/:id/repository/tags';
const nameParam = text({ description: 'name of the tag' });

const list = endpoint({
  method: 'GET',
  path: tags,
  cached: true,
  summary: 'List tags of a project',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    search: optional(text({ description: 'part of the name' })),
    order_by: oneOf(['name', 'updated', 'version'], { default: 'updated' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    ...pageParams,
  }),
  reply: tagShape,
  list: true,
  handle: async (call, { id, search, order_by, sort, ...params }) => {
    const code = await findCachedCode(call, id);
    const filter = { search, order_by: order_by === 'updated' ? order_by : 'name', sort } as const;
    const { items, total } = await listTags(code, filter, pageRequest(params));
    return { items: await tagsJson(call, code, items), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: `${tags}/:tag_name`,
  summary: 'Get a tag',
  area,
  audience: 'optional',
  params: object({ id: projectParam, tag_name: nameParam }),
  reply: tagShape,
  handle: async (call, { id, tag_name }) => {
    const code = await findCachedCode(call, id);
    return (await tagsJson(call, code, [await requireTag(code, tag_name)]))[0];
  },
});

const signature = endpoint({
  method: 'GET',
  path: `${tags}/:tag_name/signature`,
  summary: 'Get the signature of a tag',
  area,
  audience: 'optional',
  params: object({ id: projectParam, tag_name: nameParam }),
  reply: tagSignatureShape,
  handle: async (call, { id, tag_name }) => {
    const code = await findCachedCode(call, id);
    const loaded = await loadTagSignature(call, code, await requireTag(code, tag_name));
    if (loaded === null) throw notFound('Signature');
    return signatureJson(loaded, call);
  },
});

const create = endpoint({
  method: 'POST',
  path: tags,
  summary: 'Create a tag',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    tag_name: nameParam,
    ref: text({ description: 'branch, tag or commit to tag', maxLength: 1000 }),
    message: optional(longText('message of an annotated tag')),
    release_description: optional(longText('create a release with this description')),
  }),
  reply: tagShape,
  handle: async (call, { id, tag_name: tag, ref: from, message, release_description }) => {
    const code = await findCodeForPush(call, id);
    const ref = await createTag(call, code, { tag, from, message, release_description });
    return (await tagsJson(call, code, [ref]))[0];
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${tags}/:tag_name`,
  summary: 'Delete a tag',
  area,
  audience: 'user',
  params: object({ id: projectParam, tag_name: nameParam }),
  reply: null,
  handle: async (call, { id, tag_name }) => await deleteTag(call, await findCodeForPush(call, id), tag_name),
});

const releaseParams = {
  id: projectParam,
  tag_name: nameParam,
  description: longText('description of the release'),
};

/** Finds a tag whose release the caller may change. @throws Failure 404, or 403 for a protected tag */
const requireReleasable = async (call: Call, code: Code, tag: string): Promise<Ref> => {
  const ref = await requireTag(code, tag);
  requireTagPermission(call, tag)(code.project, await loadProtectedTags(call.db, code.project.id));
  return ref;
};

const release = endpoint({
  method: 'POST',
  path: `${tags}/:tag_name/release`,
  summary: 'Create the release of a tag',
  area,
  audience: 'user',
  params: object(releaseParams),
  reply: releaseOfTagShape,
  handle: async (call, { id, tag_name, description }) => {
    const code = await findCode(call, id, 'admin_release');
    await addRelease(call, code.project, await requireReleasable(call, code, tag_name), description);
    return { tag_name, description };
  },
});

const updateRelease = endpoint({
  method: 'PUT',
  path: `${tags}/:tag_name/release`,
  summary: 'Update the release of a tag',
  area,
  audience: 'user',
  params: object(releaseParams),
  reply: releaseOfTagShape,
  handle: async (call, { id, tag_name, description }) => {
    const code = await findCode(call, id, 'admin_release');
    await requireReleasable(call, code, tag_name);
    await changeRelease(call, code.project, tag_name, description);
    return { tag_name, description };
  },
});

export const tagRoutes = [list, show, signature, create, remove, release, updateRelease];
