import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { int, object, oneOf, optional, string, text } from '../../../platform/http/schema.ts';
import { projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { requireRef } from '../refs/resolve.ts';
import { listContributors } from './contributors.ts';

const contributors = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/contributors',
  summary: 'List contributors with their commit counts',
  area: 'repositories',
  audience: 'optional',
  isExpensive: true,
  params: object({
    id: projectParam,
    ref: optional(text({ maxLength: 1000, description: 'branch, tag or commit' })),
    order_by: oneOf(['name', 'email', 'commits'], { default: 'commits' }),
    sort: oneOf(['asc', 'desc'], { default: 'asc' }),
    ...pageParams,
  }),
  reply: object({ name: string, email: string, commits: int, additions: int, deletions: int }),
  list: true,
  handle: async (call, { id, ref, order_by, sort, ...params }) => {
    const code = await findCachedCode(call, id);
    const isEmpty = code.project.default_branch === null && (ref === undefined || ref === '');
    if (isEmpty) return { items: [], total: 0 };
    const { commit } = await requireRef(code, ref, 'Commit');
    const contributors = await listContributors(code, commit, { order_by, sort });
    const { limit, offset } = pageRequest(params);
    return { items: contributors.slice(offset, offset + limit), total: contributors.length };
  },
});

export const contributorsRoutes = [contributors];
