/** The merge requests of the user: to review, assigned, created. */
import { linkedLabels } from '../../../../planning/issuables/lists/linked_labels.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, oneOf } from '../../../../platform/http/schema.ts';
import type { Filters } from '../../../../review/merge_requests/lists/merge_request_filters.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import { loadRowFacts } from '../../../../review/merge_requests/lists/row_facts.ts';
import { type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { tabs } from '../../parts/frame/link_lists.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import {
  type ListedRequest,
  listPathOf,
  parseRequest,
  requestRow,
} from '../merge_requests/list/request_row.ts';

const path = '/dashboard/merge_requests';

const scopes = {
  'reviews-for-me': 'Review requests',
  'assigned-to-me': 'Assigned to me',
  'created-by-me': 'Created by me',
} as const;

const states = { opened: 'Open', merged: 'Merged', closed: 'Closed', all: 'All' } as const;

type Scope = keyof typeof scopes;
type State = keyof typeof states;
type PageQuery = { scope: Scope; state: State; page?: number; per_page?: number };

/** Lists merge requests of all projects that the user sees, the last changed first. */
export const loadMergeRequests = async (
  { call }: Visit,
  { scope, state, ...paging }: PageQuery,
): Promise<{ requests: ListedRequest[]; total: number }> => {
  const filters: Filters = { scope, state, order_by: 'updated_at', sort: 'desc' };
  const page = pageRequest(paging);
  const { items, total } = await listMergeRequests({
    call,
    scope: 'everywhere',
    filters,
    page,
    texts: mergeRequestTexts,
  });
  return { requests: items.map(parseRequest), total };
};

/** Renders the rows as the lists of projects do. */
const renderRows = async ({ call }: Visit, requests: readonly ListedRequest[]): Promise<Html[]> => {
  const ids = requests.map(({ id }) => id);
  const [labels, facts] = await Promise.all([
    linkedLabels(call.db, 'MergeRequest', ids),
    loadRowFacts(call, ids),
  ]);
  return requests.map((request) =>
    requestRow(request, {
      labels: labels.get(request.id) ?? [],
      facts: facts.get(request.id),
      labelHref: (title) => `${listPathOf(request)}?${new URLSearchParams({ labels: title }).toString()}`,
      namesProject: true,
    }),
  );
};

const addressOf = (scope: Scope, state: State): string => {
  const pairs = Object.entries({ scope, state }).filter(
    ([, value]) => value !== 'reviews-for-me' && value !== 'opened',
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
};

export const mergeRequestPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({
      scope: oneOf(Object.keys(scopes) as Scope[], { default: 'reviews-for-me' }),
      state: oneOf(Object.keys(states) as State[], { default: 'opened' }),
      ...pageParams,
    }),
    handle: async (visit, query) => {
      const { scope, state } = query;
      const { requests, total } = await loadMergeRequests(visit, query);
      const scopeTabs = Object.entries(scopes).map(([one, name]) => ({
        path: addressOf(one as Scope, state),
        name,
        isHere: one === scope,
      }));
      const stateLinks = Object.entries(states).map(
        ([one, name]) =>
          html`<a class="button" href="${addressOf(scope, one as State)}"${one === state && html` aria-current="page"`}>${name}</a>`,
      );
      const rows = await renderRows(visit, requests);
      const list =
        requests.length === 0
          ? emptyState({ icon: 'merge-request', title: 'No merge requests' })
          : html`<header><span class="muted">${total === 1 ? '1 merge request' : `${total} merge requests`}</span></header><ul class="list issues">${rows}</ul>`;
      return {
        title: 'Merge requests',
        body: html`<h1>Merge requests</h1>
${tabs('Merge requests by role', scopeTabs)}
<nav class="segmented" aria-label="Merge requests by state">${stateLinks}</nav>
<section class="card" aria-label="Merge requests">${list}</section>
${pagesNav({ path, query: { scope, state }, page: pageRequest(query), total })}`,
      };
    },
  }),
];
