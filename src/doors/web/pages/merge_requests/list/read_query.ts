/** Parses the parameters of a list of merge requests. */
import type { Static } from 'typebox';
import { object, oneOf, optional } from '../../../../../platform/http/schema.ts';
import {
  type Filters,
  filterParams,
  scopeParam,
} from '../../../../../review/merge_requests/lists/merge_request_filters.ts';
import {
  type ListDefaults,
  type ParsedQuery,
  listPageParams,
  readListQuery,
} from '../../issuables/list/list_parts.ts';

const states = ['opened', 'merged', 'closed', 'all'] as const;

export type State = (typeof states)[number];

const { view: _view, ...filtering } = filterParams;

/** Parameters of the page: the filters of the API, and the typed filter. */
export const requestListParams = {
  ...filtering,
  state: oneOf(states, { default: 'opened' }),
  scope: optional(scopeParam()),
  ...listPageParams,
};

const shape = object(requestListParams);
export type RequestListQuery = Static<typeof shape>;

/** The parsed query of the page. */
export type ListQuery = ParsedQuery<State> & { filters: Filters };

export const readQuery = (query: RequestListQuery, defaults: ListDefaults): ListQuery => {
  const { filters, ...parsed } = readListQuery(query, defaults);
  return { ...parsed, filters: filters as Filters };
};
