/** The parameters of a list of issues, and what they select. */
import type { Static } from 'typebox';
import { scopeParam } from '../../../../../planning/issuables/lists/filters.ts';
import { type Filters, filterParams } from '../../../../../planning/issues/lists/filters.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { names, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { toChips } from '../../issuables/list/filter_chips.ts';
import { type ParsedQuery, isSelecting, readOrder } from '../../issuables/list/list_parts.ts';
import { maxTyped } from '../../issuables/list/typed_filter.ts';
import type { IssueListScope } from '../list_scope.ts';

const states = ['opened', 'closed', 'all'] as const;

/** Parameters of the page: the filters of the API, and what is typed into the box. */
export const issueListParams = {
  ...filterParams,
  state: oneOf(states, { default: 'opened' }),
  scope: optional(scopeParam()),
  q: optional(text({ maxLength: maxTyped })),
  /** Names that other addresses use for the filters of labels and milestones. */
  label_name: optional(names()),
  milestone_title: optional(text()),
  ...pageParams,
};

const shape = object(issueListParams);
export type IssueListQuery = Static<typeof shape>;

export type State = (typeof states)[number];
/** The parsed query of the page. */
export type ListQuery = ParsedQuery<State> & { filters: Filters };

export const readQuery = (query: IssueListQuery, { ownScope }: IssueListScope): ListQuery => {
  const { q: _q, page, per_page, label_name = [], milestone_title, ...sent } = query;
  const given = {
    ...sent,
    labels: [...(sent.labels ?? []), ...label_name],
    milestone: sent.milestone ?? milestone_title,
  };
  const selecting = Object.entries({ scope: ownScope ?? 'all', ...given }).filter(isSelecting);
  return {
    filters: Object.fromEntries(selecting) as Filters,
    chips: toChips(given),
    state: given.state,
    ...readOrder(given),
    page: pageRequest({ page, per_page }),
  };
};
