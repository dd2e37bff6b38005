/** The filter of a list: a box for text and terms, the chips of what is filtered, and a form with each filter. */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { type AddressQuery, type Chip, addressOf, chipQuery, chipText } from './chips.ts';

export type Bar = {
  path: string;
  chips: readonly Chip[];
  /** Parameters beside the filters: state and order. */
  others: AddressQuery;
};

const chipPart = ({ path, chips, others }: Bar, chip: Chip): Html => {
  const rest = chipQuery(chips.filter((one) => one !== chip));
  const text = chipText(chip);
  return html`<a class="chip" href="${addressOf(path, { ...others, ...rest })}" aria-label="Remove the filter ${text}">${text} ${icon('cross')}</a>`;
};

const hiddenFields = (query: AddressQuery): Html[] =>
  Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [hidden(name, value)]));

/** Renders the box. What is typed there is added to the filters. */
const box = (bar: Bar): Html => {
  const { path, chips, others } = bar;
  return html`<form method="get" action="${path}" class="filter-bar boxed" role="search">${icon('search')}${chips.map(
    (chip) => chipPart(bar, chip),
  )}${hiddenFields({ ...others, ...chipQuery(chips) })}<input type="search" name="q" aria-label="Filter issues" placeholder="Filter: label:bug, assignee:me, due:overdue, or words…" data-key="f" data-key-name="Filter the list"><button class="visually-hidden-until-focus">Filter</button></form>`;
};

const dueNames: Readonly<Record<string, string>> = {
  '0': 'No due date',
  any: 'Any due date',
  today: 'Today',
  tomorrow: 'Tomorrow',
  overdue: 'Overdue',
  week: 'This week',
  month: 'This month',
  next_month_and_previous_two_weeks: 'Next month and previous two weeks',
};

/** Filters that have a field of their own. */
const fieldNames = [
  'labels',
  'assignee_username',
  'author_username',
  'milestone',
  'due_date',
  'confidential',
];

/** Renders a form with a field for each filter. */
const fieldsMenu = ({ path, chips, others }: Bar): Html => {
  const query = chipQuery(chips);
  const kept = Object.fromEntries(Object.entries(query).filter(([name]) => !fieldNames.includes(name)));
  const line = (name: string, text: string, hint?: string): Html =>
    input({
      name,
      label: text,
      id: `filter_${name}`,
      value: query[name] ?? '',
      ...(hint !== undefined && { hint }),
    });
  const fields = html`<form method="get" action="${path}" class="filter-fields">${hiddenFields({ ...others, ...kept })}
${line('labels', 'Labels', 'Names, separated by commas')}${line('assignee_username', 'Assignee', 'User name')}${line('author_username', 'Author', 'User name')}${line('milestone', 'Milestone', 'Title, None, Any, #upcoming or #started')}${select(
    {
      name: 'due_date',
      label: 'Due',
      id: 'filter_due_date',
      value: query['due_date'] ?? '',
      options: [['', 'All'], ...dueWords.map((word) => [word, dueNames[word] ?? word] as const)],
    },
  )}${select({
    name: 'confidential',
    label: 'Confidential',
    id: 'filter_confidential',
    value: query['confidential'] ?? '',
    options: [
      ['', 'All'],
      ['true', 'Only confidential'],
      ['false', 'Without confidential'],
    ],
  })}<div class="buttons"><button class="primary">Filter</button></div></form>`;
  return menu({ summary: html`Filters ${icon('chevron-down')}`, classes: 'button' }, fields);
};

export const orders = {
  'created_at desc': 'Newest first',
  'created_at asc': 'Oldest first',
  'updated_at desc': 'Recently updated',
  'updated_at asc': 'Least recently updated',
} as const;

/** Renders links to the orders of the list. */
const ordersMenu = ({ path, chips, others }: Bar, chosen: keyof typeof orders): Html => {
  const links = Object.entries(orders).map(([order, name]) => {
    const [order_by, sort] = order.split(' ');
    const query = { ...others, order_by, sort, ...chipQuery(chips) };
    return html`<a href="${addressOf(path, query)}"${order === chosen && html` aria-current="true"`}>${name}</a>`;
  });
  return menu(
    { summary: html`${orders[chosen]} ${icon('chevron-down')}`, classes: 'button' },
    html`${links}`,
  );
};

/** Renders the filter of a list. */
export const filterBar = (bar: Bar, chosen: keyof typeof orders): Html =>
  html`<div class="row filters">${box(bar)}${fieldsMenu(bar)}${ordersMenu(bar, chosen)}</div>`;
