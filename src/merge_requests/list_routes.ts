/** The lists of merge requests. */
import { type Call, endpoint } from '../access/call.ts';
import { findGroup } from '../groups/find.ts';
import type { JsonText } from '../http/endpoint.ts';
import { type Page, pageParams, pageRequest } from '../http/page.ts';
import { idOrPath, object, optional } from '../http/schema.ts';
import type { Scope } from '../issuables/list.ts';
import { milestoneLists } from '../issuables/of_milestone.ts';
import { findProjectFor } from '../projects/find.ts';
import { type Filters, filterParams, scopeParam } from './filters.ts';
import { mergeRequestShape } from './json.ts';
import { listMergeRequests } from './list.ts';
import { mergeRequestTexts, simpleTexts } from './texts.ts';

const list = {
  method: 'GET',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  reply: mergeRequestShape,
} as const;

type Params = Record<string, unknown> & { page: number; per_page: number };

/** Without a `scope`, the lists of a group and of a project are of everybody's merge requests. */
const listIn = async (call: Call, scope: Scope, params: Params): Promise<Page<JsonText>> => {
  const { id: _id, page: _page, per_page: _perPage, view, ...filters } = params;
  return await listMergeRequests({
    call,
    scope,
    filters: { scope: 'all', ...filters } as Filters,
    page: pageRequest(params),
    texts: view === 'simple' ? simpleTexts : mergeRequestTexts,
  });
};

const listAll = endpoint({
  ...list,
  path: '/merge_requests',
  summary: 'Merge requests that the caller may see; by default those he created',
  params: object({ scope: scopeParam({ default: 'created-by-me' }), ...filterParams, ...pageParams }),
  handle: async (call, params) => await listIn(call, 'everywhere', params),
});

const listOfGroup = endpoint({
  ...list,
  path: '/groups/:id/merge_requests',
  summary: 'Merge requests of a group, with all groups below it',
  params: object({ id: idOrPath('group'), scope: optional(scopeParam()), ...filterParams, ...pageParams }),
  handle: async (call, params) => {
    const group = await findGroup(call, params.id);
    return await listIn(call, { group_id: group.id }, params);
  },
});

const listOfProject = endpoint({
  ...list,
  path: '/projects/:id/merge_requests',
  summary: 'Merge requests of a project',
  params: object({ id: idOrPath('project'), scope: optional(scopeParam()), ...filterParams, ...pageParams }),
  handle: async (call, params) => {
    const project = await findProjectFor(call, params.id, 'read_merge_request');
    return await listIn(call, { project }, params);
  },
});

const listsOfMilestone = milestoneLists({
  area: 'merge_requests',
  title: 'Merge requests',
  shape: mergeRequestShape,
  texts: mergeRequestTexts,
  list: listMergeRequests,
});

export const listRoutes = [listAll, listOfGroup, listOfProject, ...listsOfMilestone];
