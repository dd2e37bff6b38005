/** Routes that list merge requests: of all projects, of a group, of a project. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import { type Page, pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, idOrPath, object, optional } from '../../../platform/http/schema.ts';
import { labelDetailsParam } from '../../../planning/issuables/lists/linked_labels.ts';
import type { Scope } from '../../../planning/issuables/lists/list_kind.ts';
import { milestoneLists } from '../../../planning/issuables/lists/milestone_list_routes.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { type Filters, filterParams, scopeParam } from './merge_request_filters.ts';
import { detailedMergeRequestShape, mergeRequestShape } from '../json.ts';
import { listMergeRequests } from './list.ts';
import { detailedTexts, mergeRequestTexts, simpleTexts } from './json_cache.ts';

const shared = {
  method: 'GET',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  cached: true,
  reply: detailedMergeRequestShape,
} as const;

const listParams = { ...filterParams, ...labelDetailsParam, ...pageParams };

type Params = Record<string, unknown> & { page: number; per_page: number };

/** Lists merge requests. Without `scope`, lists of groups and projects include merge requests of all authors. */
const listIn = async (call: Call, scope: Scope, params: Params): Promise<Page<JsonText>> => {
  const { id: _id, page: _page, per_page: _perPage, view, with_labels_details, ...filters } = params;
  const full = with_labels_details === true ? detailedTexts : mergeRequestTexts;
  return await listMergeRequests({
    call,
    scope,
    filters: { scope: 'all', ...filters } as Filters,
    page: pageRequest(params),
    texts: view === 'simple' ? simpleTexts : full,
  });
};

const listAll = endpoint({
  ...shared,
  path: '/merge_requests',
  summary: 'List merge requests, by default those you created',
  params: object({ scope: scopeParam({ default: 'created-by-me' }), ...listParams }),
  handle: async (call, params) => await listIn(call, 'everywhere', params),
});

const listOfGroup = endpoint({
  ...shared,
  path: '/groups/:id/merge_requests',
  summary: 'List merge requests of a group and its subgroups',
  params: object({ id: idOrPath('group'), scope: optional(scopeParam()), ...listParams }),
  handle: async (call, params) => {
    const group = await findGroup(call, params.id);
    return await listIn(call, { group_id: group.id }, params);
  },
});

const listOfProject = endpoint({
  ...shared,
  path: '/projects/:id/merge_requests',
  summary: 'List merge requests of a project',
  params: object({ id: idOrPath('project'), scope: optional(scopeParam()), ...listParams }),
  handle: async (call, params) => {
    const project = await findProjectFor(call, params.id, 'read_merge_request');
    return await listIn(call, { project }, params);
  },
});

/** Lists the iids of the merge requests of a deployment of the project. @throws Failure 404 */
const iidsOfDeployment = async (db: Reader, projectId: number, id: number): Promise<number[]> => {
  const deployment = await db
    .selectFrom('deployments')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (deployment === undefined) throw notFound();
  const rows = await db
    .selectFrom('deployment_merge_requests')
    .innerJoin('merge_requests', 'merge_requests.id', 'deployment_merge_requests.merge_request_id')
    .select('merge_requests.iid')
    .where('deployment_merge_requests.deployment_id', '=', id)
    .execute();
  return rows.map(({ iid }) => iid);
};

const listOfDeployment = endpoint({
  ...shared,
  path: '/projects/:id/deployments/:deployment_id/merge_requests',
  summary: 'List merge requests that a deployment brought to its environment',
  params: object({
    id: idOrPath('project'),
    deployment_id: id(),
    scope: optional(scopeParam()),
    ...listParams,
  }),
  handle: async (call, params) => {
    const project = await findProjectFor(call, params.id, 'read_environment');
    const { deployment_id, iids: chosen = [], ...rest } = params;
    const deployed = await iidsOfDeployment(call.db, project.id, deployment_id);
    const iids = chosen.length === 0 ? deployed : deployed.filter((iid) => chosen.includes(iid));
    return iids.length === 0 ? { items: [], total: 0 } : await listIn(call, { project }, { ...rest, iids });
  },
});

const listsOfMilestone = milestoneLists({
  area: 'merge_requests',
  title: 'merge requests',
  shape: mergeRequestShape,
  texts: mergeRequestTexts,
  list: listMergeRequests,
});

export const listRoutes = [listAll, listOfGroup, listOfProject, listOfDeployment, ...listsOfMilestone];
