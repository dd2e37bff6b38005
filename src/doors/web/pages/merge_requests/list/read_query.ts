/** Parses the parameters of a list of merge requests. */
import type { Static } from 'typebox';
import { object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import {
  type Filters,
  filterParams,
  scopeParam,
} from '../../../../../review/merge_requests/lists/merge_request_filters.ts';
import type { Visit } from '../../../page.ts';
import {
  type ListDefaults,
  type ParsedQuery,
  listPageParams,
  readListQuery,
  requireValid,
} from '../../issuables/list/list_parts.ts';
import type { RequestListScope } from '../../issuables/list/list_scope.ts';
import { maxPeriod } from '../../issuables/list/periods.ts';

const states = ['opened', 'merged', 'closed', 'all'] as const;

export type State = (typeof states)[number];

const { view: _view, ...filtering } = filterParams;

/** Parameters of the page: the filters of the API, and the typed filter. */
export const requestListParams = {
  ...filtering,
  state: oneOf(states, { default: 'opened' }),
  scope: optional(scopeParam()),
  ...listPageParams,
  merged: optional(text({ maxLength: maxPeriod })),
  /** Reviews that wait for the user, or requests of the user that a reviewer sent back. */
  my_review: optional(oneOf(['waiting', 'returned'])),
};

const shape = object(requestListParams);
export type RequestListQuery = Static<typeof shape>;

/** The parsed query of the page. */
export type ListQuery = ParsedQuery<State> & { filters: Filters };

type RequestDefaults = ListDefaults & Pick<RequestListScope, 'ownReview'>;

/** The scopes that have what waits for the user: lists find their records by these fastest. */
const reviewScopes = { waiting: 'reviews-for-me', returned: 'created-by-me' } as const;

/** Parses the query of a page that shows its problems. */
export const readShownQuery = (
  query: RequestListQuery,
  { ownReview, ...defaults }: RequestDefaults,
): ListQuery => {
  const { filters, ...parsed } = readListQuery(query, defaults);
  const { scope, my_review = scope === undefined ? ownReview : undefined } = query;
  if (my_review === undefined) return { ...parsed, filters: filters as Filters };
  const isOfAll = scope === undefined || scope === 'all';
  const ofReview = { my_review, ...(isOfAll && { scope: reviewScopes[my_review] }) };
  return { ...parsed, filters: { ...(filters as Filters), ...ofReview } };
};

/** Parses the query of a file or feed. @throws Failure 400 for invalid periods */
export const readQuery = (
  { call }: Visit,
  query: RequestListQuery,
  defaults: Omit<RequestDefaults, 'now'>,
): ListQuery => requireValid(readShownQuery(query, { ...defaults, now: call.now }));
