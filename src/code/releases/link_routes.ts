/** Routes of release links. */
import { endpoint } from '../../core/access/endpoint.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { clearable, id, object, oneOf, optional, text } from '../../platform/http/schema.ts';
import { findCode, projectParam } from '../repository/find_code.ts';
import { limitToJobProject } from './limit_job_token.ts';
import { loadReleaseLinks, releaseLinkJson, releaseLinkShape } from './json.ts';
import { linkTypes } from './links.ts';
import { findLink, findRelease } from './find_releases.ts';
import { createLink, deleteLink, updateLink } from './write_links.ts';

const area = 'releases';
const path = '/projects/:id/releases/:tag_name/assets/links';
const release = { id: projectParam, tag_name: text({ maxLength: 1000, description: 'name of the tag' }) };
const linkParams = { ...release, link_id: id('id of the link') };
const address = text({ maxLength: 2048, description: 'http, https or ftp URL' });

const filepath = {
  filepath: optional(clearable(text())),
  direct_asset_path: optional(clearable(text({ description: 'newer name of `filepath`' }))),
};

const list = endpoint({
  method: 'GET',
  path,
  summary: 'List links of a release',
  area,
  audience: 'optional',
  jobTokens: true,
  list: true,
  params: object({ ...release, ...pageParams }),
  reply: releaseLinkShape,
  handle: async (call, { id: projectId, tag_name, ...page }) => {
    const { project } = await findCode(call, projectId, 'read_release');
    const releaseRow = await findRelease(call.db, project.id, tag_name);
    const links = await loadReleaseLinks(call.db, [releaseRow.id]);
    const { limit, offset } = pageRequest(page);
    return { items: links.slice(offset, offset + limit).map(releaseLinkJson), total: links.length };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:link_id`,
  summary: 'Get a link of a release',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(linkParams),
  reply: releaseLinkShape,
  handle: async (call, { id: projectId, tag_name, link_id }) => {
    const { project } = await findCode(call, projectId, 'read_release');
    const releaseRow = await findRelease(call.db, project.id, tag_name);
    return releaseLinkJson(await findLink(call.db, releaseRow.id, link_id));
  },
});

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Add a link to a release (developers)',
  area,
  audience: 'user',
  jobTokens: true,
  params: object({
    ...release,
    name: text(),
    url: address,
    ...filepath,
    link_type: oneOf(linkTypes, { default: 'other' }),
  }),
  reply: releaseLinkShape,
  handle: async (request, { id: projectId, tag_name, name, url, link_type, ...paths }) => {
    const call = await limitToJobProject(request);
    const code = await findCode(call, projectId, 'admin_release');
    const link = { name, url, link_type, filepath: paths.direct_asset_path ?? paths.filepath ?? null };
    return releaseLinkJson(await createLink(call, code, tag_name, link));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:link_id`,
  summary: 'Update a link of a release (developers)',
  area,
  audience: 'user',
  params: object({
    ...linkParams,
    name: optional(text()),
    url: optional(address),
    ...filepath,
    link_type: optional(oneOf(linkTypes)),
  }),
  reply: releaseLinkShape,
  handle: async (call, { id: projectId, tag_name, link_id, ...edit }) => {
    const names = ['name', 'url', 'filepath', 'direct_asset_path', 'link_type'];
    if (Object.keys(edit).length === 0) throw nothingToChange(names);
    const code = await findCode(call, projectId, 'admin_release');
    const { direct_asset_path, filepath, ...others } = edit;
    const path_ = direct_asset_path === undefined ? filepath : direct_asset_path;
    const linkKey = { tag: tag_name, linkId: link_id };
    return releaseLinkJson(await updateLink(call, code, linkKey, { ...others, filepath: path_ }));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:link_id`,
  summary: 'Delete a link of a release (developers)',
  area,
  audience: 'user',
  // Clients read the deleted link from the reply.
  status: 200,
  params: object(linkParams),
  reply: releaseLinkShape,
  handle: async (call, { id: projectId, tag_name, link_id }) => {
    const code = await findCode(call, projectId, 'admin_release');
    return releaseLinkJson(await deleteLink(call, code, { tag: tag_name, linkId: link_id }));
  },
});

export const linkRoutes = [list, get, create, update, remove];
