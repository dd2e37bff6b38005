/** Renders the filter bar of a list: search box, chips of active filters, filter form and sort menu. */
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import type { OrderName } from '../../../../../planning/issuables/lists/record_kinds.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { type AddressQuery, type Chip, addressOf, chipQuery, chipText } from './filter_chips.ts';
import { type SuggestedKind, suggestionsFor } from '../../../parts/fields/suggestions.ts';
import { termValues } from './term_suggestions.ts';
import type { Order } from './list_parts.ts';
import type { Language } from './parse_typed_filter.ts';

export type Bar = {
  /** Which records the list has: its fields suggest values of the project or group. */
  scope: Scope;
  path: string;
  chips: readonly Chip[];
  /** Query parameters other than the filters: state and order. */
  otherParams: AddressQuery;
  /** The listed records: `issues`. */
  words: string;
  /** Example of a typed filter. */
  placeholder: string;
  fields: readonly FilterField[];
  /** The terms that can be typed. */
  language: Language<string>;
  /** The orders of the API for this kind of records. */
  orders: readonly OrderName[];
};

const chipPart = ({ path, chips, otherParams }: Bar, chip: Chip): Html => {
  const rest = chipQuery(chips.filter((one) => one !== chip));
  const text = chipText(chip);
  return html`<a class="chip" href="${addressOf(path, { ...otherParams, ...rest })}" aria-label="Remove the filter ${text}">${text} ${icon('cross')}</a>`;
};

const hiddenFields = (query: AddressQuery): Html[] =>
  Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [hidden(name, value)]));

/** Renders the box. The typed text is added to the filters. */
const box = (bar: Bar): Html => {
  const { scope, path, chips, otherParams, words, placeholder, language } = bar;
  const terms = JSON.stringify(termValues(scope, language));
  return html`<form method="get" action="${path}" class="filter-bar boxed" role="search">${icon('search')}${chips.map(
    (chip) => chipPart(bar, chip),
  )}${hiddenFields({ ...otherParams, ...chipQuery(chips) })}<input type="search" name="q" aria-label="Filter ${words}" placeholder="${placeholder}" data-key="f" data-key-name="Filter the list" autocomplete="off" list="filter_terms" data-terms="${terms}"><datalist id="filter_terms"></datalist><button class="visually-hidden-until-focus">Filter</button></form>`;
};

/** A field of the form for one filter. */
export type FilterField = {
  name: string;
  label: string;
  hint?: string;
  /** Values that a text input suggests. */
  suggests?: SuggestedKind;
  /** Options as [value, label] pairs. If absent, the field is a text input. */
  options?: readonly (readonly [string, string])[];
};

/** Fields that all lists have. */
export const sharedFields: readonly FilterField[] = [
  { name: 'labels', label: 'Labels', hint: 'Names, separated by commas', suggests: 'labels' },
  { name: 'assignee_username', label: 'Assignee', hint: 'User name', suggests: 'members' },
  { name: 'author_username', label: 'Author', hint: 'User name', suggests: 'members' },
  {
    name: 'milestone',
    label: 'Milestone',
    hint: 'Title, None, Any, #upcoming or #started',
    suggests: 'milestones',
  },
];

const fieldPart = (
  { name, label, hint, suggests, options }: FilterField,
  value: string,
  scope: Scope,
): Html => {
  const fieldOptions = { name, label, id: `filter_${name}`, value, ...(hint !== undefined && { hint }) };
  return options === undefined
    ? input({
        ...fieldOptions,
        autocomplete: 'off',
        ...(suggests !== undefined && suggestionsFor(scope, suggests)),
      })
    : select({ ...fieldOptions, options: [['', 'All'], ...options] });
};

/** Renders a form with a field for each filter. */
const fieldsMenu = ({ scope, path, chips, otherParams, fields }: Bar): Html => {
  const query = chipQuery(chips);
  const names = fields.map(({ name }) => name);
  const otherFilters = Object.fromEntries(Object.entries(query).filter(([name]) => !names.includes(name)));
  const form = html`<form method="get" action="${path}" class="filter-fields">${hiddenFields({ ...otherParams, ...otherFilters })}
${fields.map((field) => fieldPart(field, query[field.name] ?? '', scope))}<div class="buttons"><button class="primary">Filter</button></div></form>`;
  return menu({ summary: html`Filters ${icon('chevron-down')}`, classes: 'button' }, form);
};

/** Names of the orders, in both directions, by the parameters of the API. */
const sortOptions: Readonly<Record<Order, string>> = {
  'created_at desc': 'Newest first',
  'created_at asc': 'Oldest first',
  'updated_at desc': 'Recently updated',
  'updated_at asc': 'Least recently updated',
  'merged_at desc': 'Recently merged',
  'merged_at asc': 'Merged first',
  'priority asc': 'Priority',
  'priority desc': 'Priority, lowest first',
  'label_priority asc': 'Label priority',
  'label_priority desc': 'Label priority, lowest first',
  'due_date asc': 'Due first',
  'due_date desc': 'Due last',
  'milestone_due asc': 'Milestone due first',
  'milestone_due desc': 'Milestone due last',
  'popularity desc': 'Most popular',
  'popularity asc': 'Least popular',
  'title asc': 'Title, A to Z',
  'title desc': 'Title, Z to A',
  'relative_position asc': 'Manual',
  'relative_position desc': 'Manual, last first',
  'weight desc': 'Weight',
  'weight asc': 'Weight, lowest first',
};

/** No issue has a weight, so the menu does not offer that order. */
const unoffered: readonly string[] = ['weight desc', 'weight asc'];

/** Renders links to the orders of the list. */
const ordersMenu = ({ path, chips, otherParams, orders }: Bar, chosen: Order): Html => {
  const shown = Object.entries(sortOptions).filter(
    ([order]) => orders.some((name) => order.startsWith(`${name} `)) && !unoffered.includes(order),
  );
  const links = shown.map(([order, name]) => {
    const [order_by, sort] = order.split(' ');
    const query = { ...otherParams, order_by, sort, ...chipQuery(chips) };
    return html`<a href="${addressOf(path, query)}"${order === chosen && html` aria-current="true"`}>${name}</a>`;
  });
  return menu(
    { summary: html`${sortOptions[chosen]} ${icon('chevron-down')}`, classes: 'button orders' },
    html`${links}`,
  );
};

/**
 * Renders the filter of a list.
 * @param chosen the order; null: the list has only one
 * @param views menu of saved views; null: there is none
 */
export const filterBar = (bar: Bar, chosen: Order | null, views: Html | null): Html =>
  html`<div class="row filters">${box(bar)}${fieldsMenu(bar)}${chosen !== null && ordersMenu(bar, chosen)}${views}</div>`;
