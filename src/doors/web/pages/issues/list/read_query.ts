/** The parameters of a list of issues, and what they select. */
import type { Static } from 'typebox';
import { scopeParam } from '../../../../../planning/issuables/lists/filters.ts';
import { type Filters, filterParams } from '../../../../../planning/issues/lists/filters.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { names, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import type { IssuePlace } from '../place.ts';
import { type AddressQuery, type Chip, toChips } from './chips.ts';
import type { orders } from './filter_bar.ts';
import { maxTyped } from './query_box.ts';

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
type Order = keyof typeof orders;

/** The parsed query of the page. */
export type ListQuery = {
  filters: Filters;
  chips: Chip[];
  state: State;
  order: Order;
  /** Parameters beside the filters that differ from their defaults. */
  others: AddressQuery;
  page: ReturnType<typeof pageRequest>;
};

const defaultOrder: Order = 'created_at desc';

export const readQuery = (query: IssueListQuery, { ownScope }: IssuePlace): ListQuery => {
  const { q: _q, page, per_page, label_name = [], milestone_title, ...sent } = query;
  const given = {
    ...sent,
    labels: [...(sent.labels ?? []), ...label_name],
    milestone: sent.milestone ?? milestone_title,
  };
  const { state, order_by, sort } = given;
  const order = `${order_by} ${sort}` as const;
  const isDefault = order === defaultOrder;
  // What is empty selects nothing.
  const selecting = Object.entries({ scope: ownScope ?? 'all', ...given }).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  return {
    filters: Object.fromEntries(selecting) as Filters,
    chips: toChips(given),
    state,
    order,
    others: {
      state: state === 'opened' ? undefined : state,
      order_by: isDefault ? undefined : order_by,
      sort: isDefault ? undefined : sort,
    },
    page: pageRequest({ page, per_page }),
  };
};
