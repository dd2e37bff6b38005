/** The merge requests of the user: to review, returned, assigned, created. */
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
import { type RequestListQuery, requestListParams } from '../merge_requests/list/read_query.ts';
import { type ListedRequest, parseRequest } from '../merge_requests/list/request_row.ts';
import type { RequestListScope } from '../issuables/list/list_scope.ts';

const path = '/dashboard/merge_requests';

/** The lists of the page: their names, and the parameters of their addresses. */
const lists = {
  waiting: { name: 'Waiting for my review', query: '' },
  returned: { name: 'Returned to me', query: '?my_review=returned' },
  'assigned-to-me': { name: 'Assigned to me', query: '?scope=assigned-to-me' },
  'created-by-me': { name: 'Created by me', query: '?scope=created-by-me' },
  'reviews-for-me': { name: 'All review requests', query: '?scope=reviews-for-me' },
} as const;

type ListName = keyof typeof lists;

/** Lists the first open merge requests of the user in all projects, the last changed first. @param per_page how many */
export const loadMergeRequests = async (
  { call }: Visit,
  list: 'waiting' | 'assigned-to-me',
  per_page = pageParams.per_page.default,
): Promise<{ requests: ListedRequest[]; total: number }> => {
  const own: Pick<Filters, 'scope' | 'my_review'> =
    list === 'waiting' ? { scope: 'reviews-for-me', my_review: list } : { scope: list };
  const filters: Filters = { ...own, state: 'opened', order_by: 'updated_at', sort: 'desc' };
  const { items, total } = await listMergeRequests({
    call,
    scope: 'everywhere',
    filters,
    page: pageRequest({ per_page }),
    texts: mergeRequestTexts,
  });
  return { requests: items.map(parseRequest), total };
};

/** @param current null: the filters select none of the lists */
const toPlace = (current: ListName | null): RequestListScope => ({
  scope: 'everywhere',
  path,
  project: null,
  ownScope: 'reviews-for-me',
  ownReview: 'waiting',
  formats: { atom: `${path}.atom`, csv: `${path}/export` },
  newPath: `${path}/new`,
  view: (title, content) => ({
    title: `${title} · Your work`,
    body: html`${tabs(
      'Merge requests by role',
      Object.entries(lists).map(([list, { name, query }]) => ({
        path: `${path}${query}`,
        name,
        isHere: list === current,
      })),
    )}${content}`,
  }),
});

const isListName = (name: string): name is ListName => Object.hasOwn(lists, name);

const currentList = ({
  scope,
  my_review = scope === undefined ? 'waiting' : undefined,
}: RequestListQuery): ListName | null => {
  if (my_review !== undefined) return my_review;
  return scope !== undefined && isListName(scope) ? scope : null;
};

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
    handle: async (visit, query) => await requestList(visit, toPlace(currentList(query)), query),
  }),
  page({
    method: 'GET',
    path: `${path}/export`,
    audience: 'user',
    params: object(requestListParams),
    handle: async (visit, query) => await requestCsv(visit, toPlace('waiting'), query),
  }),
  page({
    method: 'GET',
    path: `${path}.atom`,
    audience: 'user',
    isFeed: true,
    params: object(requestListParams),
    handle: async (visit, query) => {
      const feed = { title: 'Your merge requests', self: `${path}.atom` };
      return await requestFeed(visit, toPlace('waiting'), query, feed);
    },
  }),
];
