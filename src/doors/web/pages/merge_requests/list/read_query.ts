/** The parameters of a list of merge requests, and what they select. */
import type { Static } from 'typebox';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { names, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import {
  type Filters,
  filterParams,
  scopeParam,
} from '../../../../../review/merge_requests/lists/filters.ts';
import { toChips } from '../../issuables/list/filter_chips.ts';
import { type ParsedQuery, isSelecting, readOrder } from '../../issuables/list/list_parts.ts';
import { maxTyped } from '../../issuables/list/typed_filter.ts';

const states = ['opened', 'merged', 'closed', 'all'] as const;

export type State = (typeof states)[number];

const { view: _view, ...filtering } = filterParams;

/** Parameters of the page: the filters of the API, and what is typed into the box. */
export const requestListParams = {
  ...filtering,
  state: oneOf(states, { default: 'opened' }),
  scope: optional(scopeParam()),
  q: optional(text({ maxLength: maxTyped })),
  /** Names that other addresses use for the filters of labels and milestones. */
  label_name: optional(names()),
  milestone_title: optional(text()),
  ...pageParams,
};

const shape = object(requestListParams);
export type RequestListQuery = Static<typeof shape>;

/** The parsed query of the page. */
export type ListQuery = ParsedQuery<State> & { filters: Filters };

export const readQuery = (query: RequestListQuery): ListQuery => {
  const { q: _q, page, per_page, label_name = [], milestone_title, ...sent } = query;
  const given = {
    ...sent,
    labels: [...(sent.labels ?? []), ...label_name],
    milestone: sent.milestone ?? milestone_title,
  };
  const selecting = Object.entries({ scope: 'all', ...given }).filter(isSelecting);
  return {
    filters: Object.fromEntries(selecting) as Filters,
    chips: toChips(given),
    state: given.state,
    ...readOrder(given),
    page: pageRequest({ page, per_page }),
  };
};
