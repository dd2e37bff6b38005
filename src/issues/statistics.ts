/** How many issues there are by state: everywhere, of a group, of a project; filtered as their lists are. */
import { type Call, endpoint } from '../access/call.ts';
import { findGroup } from '../groups/find.ts';
import type { RawParams } from '../http/params.ts';
import { idOrPath, int, object, optional } from '../http/schema.ts';
import { scopeParam } from '../issuables/filters.ts';
import type { Scope } from '../issuables/list.ts';
import type { TextsOf } from '../issuables/texts.ts';
import { findProject } from '../projects/find.ts';
import { type Filters, filterParams } from './filters.ts';
import { listIssues } from './list.ts';

const { state: _state, order_by: _order, sort: _sort, ...selecting } = filterParams;

const shared = {
  method: 'GET',
  area: 'issues',
  audience: 'user',
  reply: object({ statistics: object({ counts: object({ all: int, closed: int, opened: int }) }) }),
} as const;

const noTexts: TextsOf = async () => await Promise.resolve([]);
const page = { page: 1, per_page: 1, limit: 1, offset: 0 };

const count = async (call: Call, scope: Scope, given: RawParams) => {
  const { id: _id, ...wanted } = given;
  const totalOf = async (state: 'opened' | 'closed'): Promise<number> => {
    const filters = { scope: 'all', order_by: 'created_at', sort: 'desc', ...wanted, state } as Filters;
    return (await listIssues({ call, scope, filters, page, texts: noTexts })).total;
  };
  const [opened, closed] = await Promise.all([totalOf('opened'), totalOf('closed')]);
  return { statistics: { counts: { all: opened + closed, closed, opened } } };
};

const everywhere = endpoint({
  ...shared,
  path: '/issues_statistics',
  summary: 'Numbers of issues that the caller may see; by default of those he created',
  params: object({ scope: scopeParam({ default: 'created-by-me' }), ...selecting }),
  handle: async (call, params) => await count(call, 'everywhere', params),
});

const ofGroup = endpoint({
  ...shared,
  path: '/groups/:id/issues_statistics',
  summary: 'Numbers of issues of a group, with all groups below it',
  params: object({ id: idOrPath('group'), scope: optional(scopeParam()), ...selecting }),
  handle: async (call, params) =>
    await count(call, { group_id: (await findGroup(call, params.id)).id }, params),
});

const ofProject = endpoint({
  ...shared,
  path: '/projects/:id/issues_statistics',
  summary: 'Numbers of issues of a project',
  params: object({ id: idOrPath('project'), scope: optional(scopeParam()), ...selecting }),
  handle: async (call, params) => await count(call, { project: await findProject(call, params.id) }, params),
});

export const statisticsRoutes = [everywhere, ofGroup, ofProject];
