/** The merge requests of the user: to review, assigned, created. */
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import type { Filters } from '../../../../review/merge_requests/lists/merge_request_filters.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import { type Visit, page } from '../../page.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { html } from '../../parts/html.ts';
import { chooseProjectParams, chooseProjectPart } from '../issuables/list/choose_project.ts';
import { requestCsv } from '../merge_requests/list/request_csv.ts';
import { requestFeed } from '../merge_requests/list/request_feed.ts';
import { requestList } from '../merge_requests/list/list_view.ts';
import { requestListParams } from '../merge_requests/list/read_query.ts';
import { type ListedRequest, parseRequest } from '../merge_requests/list/request_row.ts';
import type { RequestListScope } from '../issuables/list/list_scope.ts';

const path = '/dashboard/merge_requests';

const roles = {
  'reviews-for-me': 'Review requests',
  'assigned-to-me': 'Assigned to me',
  'created-by-me': 'Created by me',
} as const;

type Role = keyof typeof roles;

/** Lists the first open merge requests of a role in all projects, the last changed first. @param per_page how many */
export const loadMergeRequests = async (
  { call }: Visit,
  scope: Role,
  per_page = pageParams.per_page.default,
): Promise<{ requests: ListedRequest[]; total: number }> => {
  const filters: Filters = { scope, state: 'opened', order_by: 'updated_at', sort: 'desc' };
  const { items, total } = await listMergeRequests({
    call,
    scope: 'everywhere',
    filters,
    page: pageRequest({ per_page }),
    texts: mergeRequestTexts,
  });
  return { requests: items.map(parseRequest), total };
};

const toPlace = (current: Role): RequestListScope => ({
  scope: 'everywhere',
  path,
  project: null,
  ownScope: 'reviews-for-me',
  formats: { atom: `${path}.atom`, csv: `${path}/export` },
  newPath: `${path}/new`,
  view: (title, content) => ({
    title: `${title} · Your work`,
    body: html`${tabs(
      'Merge requests by role',
      Object.entries(roles).map(([role, name]) => ({
        path: role === 'reviews-for-me' ? path : `${path}?scope=${role}`,
        name,
        isHere: role === current,
      })),
    )}${content}`,
  }),
});

const isRole = (scope: string): scope is Role => Object.hasOwn(roles, scope);

export const mergeRequestPages = [
  page({
    method: 'GET',
    path: `${path}/new`,
    audience: 'user',
    params: object(chooseProjectParams),
    handle: async (visit, query) => ({
      title: 'New merge request',
      body: html`<h1>New merge request</h1>
${await chooseProjectPart(visit, { noun: 'merge_requests', listPath: path, groupId: null }, query)}`,
    }),
  }),
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(requestListParams),
    handle: async (visit, query) => {
      const { scope = 'reviews-for-me' } = query;
      return await requestList(visit, toPlace(isRole(scope) ? scope : 'reviews-for-me'), query);
    },
  }),
  page({
    method: 'GET',
    path: `${path}/export`,
    audience: 'user',
    params: object(requestListParams),
    handle: async (visit, query) => await requestCsv(visit, toPlace('reviews-for-me'), query),
  }),
  page({
    method: 'GET',
    path: `${path}.atom`,
    audience: 'user',
    isFeed: true,
    params: object(requestListParams),
    handle: async (visit, query) => {
      const feed = { title: 'Your merge requests', self: `${path}.atom` };
      return await requestFeed(visit, toPlace('reviews-for-me'), query, feed);
    },
  }),
];
