/**
 * Lists of what projects and groups never have here, for clients that read them with everything else: packages, wiki
 * pages, feature flags, requests for access.
 */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { may } from '../../core/access/may.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { pageParams } from '../../platform/http/page.ts';
import { idOrPath, int, object, optional, string, text } from '../../platform/http/schema.ts';
import { findProject, findProjectFor } from '../projects/find.ts';

const area = 'projects';

type Find = (call: Call, id: number | string) => Promise<unknown>;

const noItems = { items: [], total: 0 };

/** An empty list. @param find loads the owner, and authorizes the caller */
const emptyList = (path: string, { what, find }: { what: string; find: Find }, filters: object = {}) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List ${what} (always empty)`,
    area,
    audience: 'user',
    list: true,
    params: object({
      id: idOrPath(path.startsWith('/groups') ? 'group' : 'project'),
      ...(filters as Record<string, never>),
      ...pageParams,
    }),
    reply: object({ id: int }),
    handle: async (call, { id }) => {
      await find(call, id);
      return noItems;
    },
  });

const findVisibleGroup: Find = async (call, id) => await findGroupFor(call, id, 'read_group');

const findReadable: Find = async (call, id) => {
  const project = await findProject(call, id);
  if (!may(call.viewer, 'read_code', project)) throw forbidden();
};

const word = optional(text());

const getFeatureFlag = endpoint({
  method: 'GET',
  path: '/projects/:id/feature_flags/:feature_flag_name',
  summary: 'Get a feature flag (always 404)',
  area,
  audience: 'user',
  params: object({ id: idOrPath('project'), feature_flag_name: text() }),
  reply: object({ name: string }),
  handle: async (call, { id }) => {
    await findProjectFor(call, id, 'read_feature_flag');
    throw notFound();
  },
});

const packageFilters = {
  order_by: word,
  sort: word,
  package_type: word,
  package_name: word,
  package_version: word,
  include_versionless: word,
  status: word,
  exclude_subgroups: word,
};

export const absentFeatureRoutes = [
  emptyList('/projects/:id/packages', { what: 'packages of a project', find: findReadable }, packageFilters),
  emptyList('/groups/:id/packages', { what: 'packages of a group', find: findVisibleGroup }, packageFilters),
  emptyList(
    '/projects/:id/wikis',
    { what: 'wiki pages of a project', find: findProject },
    { with_content: word },
  ),
  emptyList(
    '/groups/:id/wikis',
    { what: 'wiki pages of a group', find: findVisibleGroup },
    { with_content: word },
  ),
  emptyList(
    '/projects/:id/feature_flags',
    {
      what: 'feature flags of a project',
      find: async (call, id) => await findProjectFor(call, id, 'read_feature_flag'),
    },
    { scope: word },
  ),
  getFeatureFlag,
  emptyList('/projects/:id/access_requests', {
    what: 'access requests of a project',
    find: async (call, id) => await findProjectFor(call, id, 'admin_member'),
  }),
  emptyList('/groups/:id/access_requests', {
    what: 'access requests of a group',
    find: async (call, id) => await findGroupFor(call, id, 'admin_group_member'),
  }),
];
