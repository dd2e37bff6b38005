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
import { periodHint } from './periods.ts';
import type { Language } from './typed_terms.ts';

/** A typed text that cannot be used, and why. */
export type RefusedFilter = { text: string; problems: readonly string[] };

export type Bar = {
  /** Which records the list has: its fields suggest values of the project or group. */
  scope: Scope;
  path: string;
  chips: readonly Chip[];
  /** Query parameters other than the filters: state and order. */
  otherParams: AddressQuery;
  /** The listed records: `issues`. */
  words: string;
  /** Example of a typed filter, with entities beyond Latin-1, as in the search button of the top bar. */
  placeholder: Html;
  fields: readonly FilterField[];
  /** The terms that can be typed. */
  language: Language<string>;
  /** The orders of the API for this kind of records. */
  orders: readonly OrderName[];
  typed: RefusedFilter;
};

const chipPart = ({ path, chips, otherParams }: Bar, chip: Chip): Html => {
  const otherChips = chipQuery(chips.filter((one) => one !== chip));
  const text = chipText(chip);
  return html`<a class="chip" href="${addressOf(path, { ...otherParams, ...otherChips })}" aria-label="Remove the filter ${text}">${text} ${icon('cross')}</a>`;
};

const hiddenFields = (query: AddressQuery): Html[] =>
  Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [hidden(name, value)]));

/** Renders the box. The typed text is added to the filters. */
const box = (bar: Bar): Html => {
  const { scope, path, chips, otherParams, words, placeholder, language, typed } = bar;
  const invalid = typed.problems.length > 0 && html` aria-invalid="true" aria-describedby="filter_error"`;
  const terms = JSON.stringify(termValues(scope, language));
  return html`<form method="get" action="${path}" class="filter-bar boxed" role="search">${icon('search')}${chips.map(
    (chip) => chipPart(bar, chip),
  )}${hiddenFields({ ...otherParams, ...chipQuery(chips) })}<input type="search" name="q" aria-label="Filter ${words}" placeholder="${placeholder}" value="${typed.text}"${invalid} data-key="f" data-key-name="Filter the list" autocomplete="off" list="filter_terms" data-terms="${terms}"><datalist id="filter_terms"></datalist><button class="visually-hidden-until-focus">Filter</button></form>`;
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

/** The field of a period. */
export const periodField = (name: string, label: string): FilterField => ({ name, label, hint: periodHint });

/** The field that selects records with somebody, or with nobody, in a role. */
export const presenceField = (name: string, label: string): FilterField => ({
  name,
  label,
  options: [
    ['None', 'Nobody'],
    ['Any', 'Anybody'],
  ],
});

/** Fields that all lists have. */
export const sharedFields: readonly FilterField[] = [
  { name: 'labels', label: 'Labels', hint: 'Names, separated by commas; or None or Any', suggests: 'labels' },
  { name: 'or[labels]', label: 'Any of these labels', hint: 'Names, separated by commas' },
  { name: 'not[labels]', label: 'Without these labels', hint: 'Names, separated by commas' },
  { name: 'assignee_username', label: 'Assignee', hint: 'User name', suggests: 'members' },
  presenceField('assignee_id', 'Assigned to'),
  { name: 'or[assignee_username]', label: 'Any of these assignees', hint: 'User names, separated by commas' },
  { name: 'not[assignee_username]', label: 'Not assigned to', hint: 'User names, separated by commas' },
  { name: 'author_username', label: 'Author', hint: 'User name', suggests: 'members' },
  { name: 'or[author_username]', label: 'Any of these authors', hint: 'User names, separated by commas' },
  { name: 'not[author_username]', label: 'Not created by', hint: 'User names, separated by commas' },
  {
    name: 'milestone',
    label: 'Milestone',
    hint: 'Title, None, Any, #upcoming or #started',
    suggests: 'milestones',
  },
  { name: 'not[milestone]', label: 'Not in milestone', hint: 'Title', suggests: 'milestones' },
  { name: 'my_reaction_emoji', label: 'My reaction', hint: 'Name of an emoji, None or Any' },
  periodField('created', 'Created'),
  periodField('updated', 'Updated'),
  periodField('closed', 'Closed'),
];

/** Returns the options of a select. Another value from the address is added as an option, so that it is kept. */
const optionsWith = (
  options: readonly (readonly [string, string])[],
  value: string,
): (readonly [string, string])[] => {
  const isOffered = value === '' || options.some(([one]) => one === value);
  return [['', 'All'], ...options, ...(isOffered ? [] : [[value, value] as const])];
};

const fieldPart = (
  { name, label, hint, suggests, options }: FilterField,
  value: string,
  scope: Scope,
): Html => {
  const fieldOptions = {
    name,
    label,
    id: `filter_${name.replaceAll(/\W+/g, '_')}`,
    value,
    ...(hint !== undefined && { hint }),
  };
  return options === undefined
    ? input({
        ...fieldOptions,
        autocomplete: 'off',
        ...(suggests !== undefined && suggestionsFor(scope, suggests)),
      })
    : select({ ...fieldOptions, options: optionsWith(options, value) });
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

const problemsPart = ({ text, problems }: RefusedFilter): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="flash alert" role="alert" id="filter_error">${problems.map((one) => html`<p>${one}</p>`)}<p>${
        text === '' ? 'The list is not filtered by it.' : 'The list is as it was.'
      }</p></div>`;

/**
 * Renders the filter of a list.
 * @param chosen the order; null if the list has only one order
 * @param views menu of saved views; null if there is none
 */
export const filterBar = (bar: Bar, chosen: Order | null, views: Html | null): Html =>
  html`<div class="row filters">${box(bar)}${fieldsMenu(bar)}${chosen !== null && ordersMenu(bar, chosen)}${views}</div>${problemsPart(bar.typed)}`;
