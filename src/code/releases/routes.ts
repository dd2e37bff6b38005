/** Routes of releases; each release belongs to one tag. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  anything,
  boolean,
  clearable,
  hash,
  integers,
  longText,
  object,
  oneOf,
  optional,
  text,
  texts,
  time,
} from '../../platform/http/schema.ts';
import type { Project } from '../../projects/projects/find.ts';
import type { HtmlRenderer } from '../../projects/projects/related/html_renderer.ts';
import { findCode, projectParam } from '../repository/find_code.ts';
import { groupReleases } from './group_route.ts';
import { limitToJobProject } from './limit_job_token.ts';
import { releaseShape, releasesJson, renderedReleaseShape } from './json.ts';
import { linkRoutes } from './link_routes.ts';
import { parseLinks } from './links.ts';
import { findRelease, latestRelease, listReleases } from './find_releases.ts';
import { createRelease, deleteRelease, updateRelease } from './write_releases.ts';

const area = 'releases';
const path = '/projects/:id/releases';
const project = { id: projectParam };
const releaseParams = { ...project, tag_name: text({ maxLength: 1000, description: 'name of the tag' }) };

const htmlParam = {
  include_html_description: boolean({ default: false, description: 'include the description as HTML' }),
};

/** Adds the descriptions as HTML. */
const withHtml = async <R extends { description: string | null }>(
  html: HtmlRenderer,
  call: Call,
  project: Project,
  releases: R[],
): Promise<(R & { description_html: string })[]> => {
  const rendered = await html.markdown(
    call,
    project,
    releases.map(({ description }) => description ?? ''),
  );
  return releases.map((release, at) => ({ ...release, description_html: rendered[at] ?? '' }));
};

const list = (html: HtmlRenderer) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'List releases of a project, newest first',
    area,
    audience: 'optional',
    jobTokens: true,
    list: true,
    params: object({
      ...project,
      order_by: oneOf(['released_at', 'created_at'], { default: 'released_at' }),
      sort: oneOf(['asc', 'desc'], { default: 'desc' }),
      ...pageParams,
      ...htmlParam,
    }),
    reply: renderedReleaseShape,
    handle: async (call, { id, include_html_description, ...query }) => {
      const code = await findCode(call, id, 'read_release');
      const { items, total } = await listReleases(call.db, code.project.id, query, pageRequest(query));
      const releases = await releasesJson(call, code, items);
      return {
        items: include_html_description ? await withHtml(html, call, code.project, releases) : releases,
        total,
      };
    },
  });

const latest = endpoint({
  method: 'GET',
  path: `${path}/permalink/latest`,
  summary: 'Get the latest release of a project',
  area,
  audience: 'optional',
  jobTokens: true,
  params: object(project),
  reply: releaseShape,
  handle: async (call, { id }) => {
    const code = await findCode(call, id, 'read_release');
    const release = await latestRelease(call.db, code.project.id, call.now);
    return (await releasesJson(call, code, [release]))[0];
  },
});

const get = (html: HtmlRenderer) =>
  endpoint({
    method: 'GET',
    path: `${path}/:tag_name`,
    summary: 'Get a release by tag',
    area,
    audience: 'optional',
    jobTokens: true,
    params: object({ ...releaseParams, ...htmlParam }),
    reply: renderedReleaseShape,
    handle: async (call, { id, tag_name, include_html_description }) => {
      const code = await findCode(call, id, 'read_release');
      const releases = await releasesJson(call, code, [
        await findRelease(call.db, code.project.id, tag_name),
      ]);
      return (include_html_description ? await withHtml(html, call, code.project, releases) : releases)[0];
    },
  });

const editable = {
  name: optional(clearable(text())),
  description: optional(clearable(longText())),
  released_at: optional(time('time of the release; default: now')),
  milestones: optional(texts({ description: 'titles of milestones', maxItems: 100 })),
  milestone_ids: optional(integers({ description: 'ids of milestones', maxItems: 100 })),
};

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create a release, and its tag if missing (developers)',
  area,
  audience: 'user',
  jobTokens: true,
  params: object({
    ...releaseParams,
    ...editable,
    ref: optional(
      text({ maxLength: 1000, description: 'branch, tag or commit to create a missing tag from' }),
    ),
    tag_message: optional(longText('message of an annotated tag')),
    assets: optional(hash({ links: anything }, '`links`, each with `name` and `url`')),
  }),
  reply: releaseShape,
  handle: async (request, params) => {
    const call = await limitToJobProject(request);
    const { id, tag_name: tag, name, description, released_at, ref, tag_message, assets } = params;
    const links = parseLinks(assets);
    const code = await findCode(call, id, 'admin_release');
    const release = await createRelease(call, code, {
      tag,
      name: name ?? null,
      description: description ?? null,
      ref: ref ?? null,
      tag_message: tag_message ?? null,
      released_at: released_at ?? null,
      links,
      milestones: { milestones: params.milestones, milestone_ids: params.milestone_ids },
    });
    return (await releasesJson(call, code, [release]))[0];
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:tag_name`,
  summary: 'Update a release (developers)',
  area,
  audience: 'user',
  params: object({ ...releaseParams, ...editable }),
  reply: releaseShape,
  handle: async (call, { id, tag_name, ...params }) => {
    if (Object.keys(params).length === 0) throw nothingToChange(Object.keys(editable));
    const code = await findCode(call, id, 'admin_release');
    const changed = await updateRelease(call, code, tag_name, params);
    return (await releasesJson(call, code, [changed]))[0];
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:tag_name`,
  summary: 'Delete a release; its tag stays (developers)',
  area,
  audience: 'user',
  // Clients read the deleted release from the reply.
  status: 200,
  params: object(releaseParams),
  reply: releaseShape,
  handle: async (call, { id, tag_name }) => {
    const code = await findCode(call, id, 'admin_release');
    return await deleteRelease(call, code, tag_name);
  },
});

export const releaseRoutes = (html: HtmlRenderer) => [
  list(html),
  groupReleases,
  latest,
  get(html),
  create,
  update,
  remove,
  ...linkRoutes,
];
