/** Counts issues by state: everywhere, in a group or in a project, with the filters of the lists. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import type { RawParams } from '../../../platform/http/params.ts';
import { idOrPath, int, object, optional } from '../../../platform/http/schema.ts';
import { scopeParam } from '../../issuables/lists/filter_params.ts';
import type { Scope } from '../../issuables/lists/list_kind.ts';
import type { TextLoader } from '../../issuables/lists/json_cache.ts';
import { findProject } from '../../../projects/projects/find.ts';
import { type Filters, filterParams } from './filters.ts';
import { listIssues } from './list.ts';

const { state: _state, order_by: _order, sort: _sort, ...selecting } = filterParams;

const shared = {
  method: 'GET',
  area: 'issues',
  audience: 'user',
  reply: object({ statistics: object({ counts: object({ all: int, closed: int, opened: int }) }) }),
} as const;

const noTexts: TextLoader = async () => await Promise.resolve([]);
const page = { page: 1, per_page: 1, limit: 1, offset: 0 };

/** Counts the issues of a list in one state, with the filters of the list. */
export const countIssues = async (call: Call, scope: Scope, filters: Filters): Promise<number> =>
  (await listIssues({ call, scope, filters, page, texts: noTexts })).total;

const count = async (call: Call, scope: Scope, input: RawParams) => {
  const { id: _id, ...listParams } = input;
  const countState = async (state: 'opened' | 'closed'): Promise<number> => {
    const filters = { scope: 'all', order_by: 'created_at', sort: 'desc', ...listParams, state } as Filters;
    return await countIssues(call, scope, filters);
  };
  const [opened, closed] = await Promise.all([countState('opened'), countState('closed')]);
  return { statistics: { counts: { all: opened + closed, closed, opened } } };
};

const everywhere = endpoint({
  ...shared,
  path: '/issues_statistics',
  summary: 'Get issue counts, by default of issues you created',
  params: object({ scope: scopeParam({ default: 'created-by-me' }), ...selecting }),
  handle: async (call, params) => await count(call, 'everywhere', params),
});

const ofGroup = endpoint({
  ...shared,
  path: '/groups/:id/issues_statistics',
  summary: 'Get issue counts of a group and its subgroups',
  params: object({ id: idOrPath('group'), scope: optional(scopeParam()), ...selecting }),
  handle: async (call, params) =>
    await count(call, { group_id: (await findGroup(call, params.id)).id }, params),
});

const ofProject = endpoint({
  ...shared,
  path: '/projects/:id/issues_statistics',
  summary: 'Get issue counts of a project',
  params: object({ id: idOrPath('project'), scope: optional(scopeParam()), ...selecting }),
  handle: async (call, params) => await count(call, { project: await findProject(call, params.id) }, params),
});

export const statisticsRoutes = [everywhere, ofGroup, ofProject];
