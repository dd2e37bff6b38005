/** Parses the parameters of a list of issues. */
import type { Static } from 'typebox';
import { scopeParam } from '../../../../../planning/issuables/lists/filter_params.ts';
import { type Filters, filterParams } from '../../../../../planning/issues/lists/filters.ts';
import { object, oneOf, optional } from '../../../../../platform/http/schema.ts';
import type { Visit } from '../../../page.ts';
import {
  type ListDefaults,
  type ParsedQuery,
  listPageParams,
  readListQuery,
  requireValid,
} from '../../issuables/list/list_parts.ts';

const states = ['opened', 'closed', 'all'] as const;

/** Parameters of the page: the filters of the API, and the typed filter. */
export const issueListParams = {
  ...filterParams,
  state: oneOf(states, { default: 'opened' }),
  scope: optional(scopeParam()),
  ...listPageParams,
};

const shape = object(issueListParams);
export type IssueListQuery = Static<typeof shape>;

export type State = (typeof states)[number];
/** The parsed query of the page. */
export type ListQuery = ParsedQuery<State> & { filters: Filters };

/** Parses the query of a page that shows its problems. */
export const readShownQuery = (query: IssueListQuery, defaults: ListDefaults): ListQuery => {
  const { filters, ...parsed } = readListQuery(query, defaults);
  return { ...parsed, filters: filters as Filters };
};

/** Parses the query of a file or feed. @throws Failure 400 for invalid periods */
export const readQuery = (
  { call }: Visit,
  query: IssueListQuery,
  defaults: Omit<ListDefaults, 'now'>,
): ListQuery => requireValid(readShownQuery(query, { ...defaults, now: call.now }));
