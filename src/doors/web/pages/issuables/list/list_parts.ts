/** Parts that lists of issues and merge requests share: the parsed query, tabs of states, totals, the message of an empty list. */
import type { OrderName } from '../../../../../planning/issuables/lists/record_kinds.ts';
import { badRequest } from '../../../../../platform/errors.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { names, optional, text } from '../../../../../platform/http/schema.ts';
import { capitalize } from '../../../../../platform/unicode.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { selectAllBox } from '../bulk/bulk_form.ts';
import type { AnyListScope } from './list_scope.ts';
import { type AddressQuery, type Chip, addressOf, chipQuery, toChips } from './filter_chips.ts';
import { maxTyped } from './parse_typed_filter.ts';
import { maxPeriod, periodProblem, readPeriods } from './periods.ts';

/** An order and its direction, as the API names them. */
export type Order = `${OrderName} ${'asc' | 'desc'}`;

/** The parsed query of a list. */
export type ParsedQuery<State extends string> = {
  chips: Chip[];
  state: State;
  order: Order;
  /** Other parameters than filters, if they differ from their defaults. */
  otherParams: AddressQuery;
  page: PageRequest;
  /** Problems of filters, which are then ignored. */
  problems: string[];
};

/** Texts of a list about its records. */
export type ListTexts<State extends string> = {
  one: string;
  many: string;
  icon: IconName;
  /** What the records are for; shown if there are none. */
  purpose: string;
  /** State in totals: `open `; empty for all. */
  states: Readonly<Record<State, string>>;
};

/** Parameters whose values select nothing because they are empty. */
const isSelecting = ([, value]: readonly [string, unknown]): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

const defaultOrder: Order = 'created_at desc';

type Sent<State> = { state: State; scope?: string; order_by: OrderName; sort: 'asc' | 'desc' };

/** Returns the order, and the parameters that differ from their defaults. */
const readOrder = <State extends string>({
  state,
  order_by,
  sort,
}: Sent<State>): Pick<ParsedQuery<State>, 'order' | 'otherParams'> => {
  const order = `${order_by} ${sort}` as const;
  const isDefault = order === defaultOrder;
  return {
    order,
    otherParams: {
      state: state === 'opened' ? undefined : state,
      order_by: isDefault ? undefined : order_by,
      sort: isDefault ? undefined : sort,
    },
  };
};

/** Parameters of the page of a list in addition to the filters of the API. */
export const listPageParams = {
  /** The text typed into the filter box. */
  q: optional(text({ maxLength: maxTyped })),
  /** Names that other addresses use for the filters of labels and milestones. */
  label_name: optional(names()),
  milestone_title: optional(text()),
  /** The path of one project of a list of several. */
  project_path: optional(text({ maxLength: 1_000 })),
  created: optional(text({ maxLength: maxPeriod })),
  updated: optional(text({ maxLength: maxPeriod })),
  closed: optional(text({ maxLength: maxPeriod })),
  ...pageParams,
};

type SentQuery<State extends string> = Sent<State> & {
  q?: string | null;
  project_path?: string;
  label_name?: string[];
  milestone_title?: string | null;
  labels?: string[];
  milestone?: string | null;
  created?: string | null;
  updated?: string | null;
  closed?: string | null;
  merged?: string | null;
  page: number;
  per_page: number;
};

/** Inputs of the filters of a list. */
export type ListDefaults = Partial<Pick<AnyListScope, 'ownScope' | 'project'>> & { now: number };

/** Parses the query of a list. The list of one project has no filter by project. */
export const readListQuery = <State extends string>(
  query: SentQuery<State>,
  { ownScope = 'all', project = null, now }: ListDefaults,
): ParsedQuery<State> & { filters: object } => {
  const { q: _q, page, per_page, project_path, label_name = [], milestone_title, ...all } = query;
  const { created: _created, updated: _updated, closed: _closed, merged: _merged, ...sent } = all;
  const periods = readPeriods(query, now);
  const listed = {
    ...sent,
    labels: [...(sent.labels ?? []), ...label_name],
    milestone: sent.milestone ?? milestone_title,
  };
  const filters = { scope: ownScope, ...listed, ...periods.filters };
  return {
    filters: Object.fromEntries(Object.entries(filters).filter(isSelecting)),
    // The scope of all records is a filter only where the list has others by default.
    chips: toChips({
      ...listed,
      ...(ownScope === 'all' && listed.scope === 'all' && { scope: undefined }),
      ...periods.sent,
      ...(project === null && { project_path }),
    }),
    state: listed.state,
    ...readOrder(listed),
    page: pageRequest({ page, per_page }),
    problems: periods.problems.map(({ name, text: typed }) => periodProblem(name, typed)),
  };
};

/** Refuses filters that are left out. @throws Failure 400 */
export const requireValid = <Q extends ParsedQuery<string>>(read: Q): Q => {
  if (read.problems.length > 0) throw badRequest(read.problems.join(' '));
  return read;
};

export type StateTab<State> = { state: State; content: Html; count: number };

export const stateTabs = <State extends string>(
  path: string,
  { state, otherParams, chips }: ParsedQuery<State>,
  { words, tabs }: { words: ListTexts<State>; tabs: readonly StateTab<State>[] },
): Html => {
  const tab = ({ state: one, content, count }: StateTab<State>): Html => {
    const query = { ...otherParams, state: one === 'opened' ? undefined : one, ...chipQuery(chips) };
    return html`<a class="button" href="${addressOf(path, query)}"${one === state && html` aria-current="page"`}>${content} <span class="count">${count}</span></a>`;
  };
  return html`<nav class="segmented" aria-label="${capitalize(words.many)} by state">${tabs.map(tab)}</nav>`;
};

/** `1–20 of 128 open issues match`, with an entity as in the search button of the top bar */
export const listSummary = <State extends string>(
  { state, page, chips }: ParsedQuery<State>,
  { one, many, states }: ListTexts<State>,
  { shown, total }: { shown: number; total: number },
): Html => {
  const first = page.offset + 1;
  const counted = `${total} ${states[state]}${total === 1 ? one : many}`;
  const range = shown !== total && html`${first}&ndash;${page.offset + shown} of `;
  return html`${range}${counted}${chips.length > 0 && (total === 1 ? ' matches' : ' match')}`;
};

type ListPaths = { path: string; newPath: string | null };

export const emptyPart = <State extends string>(
  { path, newPath }: ListPaths,
  { chips, state, page }: ParsedQuery<State>,
  { words, total }: { words: ListTexts<State>; total: number },
): Html => {
  if (total > 0 && page.page > 1) {
    return emptyState({
      icon: words.icon,
      title: `This page has no ${words.many}`,
      action: html`<a href="${path}">First page</a>`,
    });
  }
  if (chips.length > 0) {
    return emptyState({
      icon: 'search',
      title: `No ${words.many} match`,
      text: `Remove a filter, or look among closed ${words.many}.`,
      action: html`<a href="${path}">Remove all filters</a>`,
    });
  }
  const title = `No ${words.states[state]}${words.many}`;
  const action = newPath !== null && html`<a class="button" href="${newPath}">New ${words.one}</a>`;
  return emptyState({ icon: words.icon, title, text: words.purpose, action });
};

const keyHints = (isSelectable: boolean): Html =>
  html`<span class="muted small keys-hint" aria-hidden="true"><kbd>j</kbd> <kbd>k</kbd> move · ${isSelectable && html`<kbd>x</kbd> select · `}<kbd>o</kbd> open</span>`;

type ListCard = {
  /** Accessible name: `Issues`. */
  name: string;
  /** Summary of the list: `1–20 of 128 open issues`. */
  summary: Html;
  rows: readonly Html[];
  /** The menu of other formats. */
  formats: Html;
  /** The menu that changes the selected rows; null: rows cannot be selected. */
  bulk: Html | null;
};

/** Renders the rows of a list with their header. */
export const listCard = ({ name, summary, rows, formats, bulk }: ListCard): Html =>
  html`<section class="card" aria-label="${name}"><header>${bulk !== null && selectAllBox}<span class="muted">${summary}</span><span class="end row">${keyHints(bulk !== null)}${bulk}${formats}</span></header><ul class="list issues${bulk !== null && ' selectable'}">${rows}</ul></section>`;

export const newButton = (newPath: string, word: string): Html =>
  html`<a class="button primary" href="${newPath}" data-key="i" data-key-2="c">${icon('plus')} New ${word} <kbd aria-hidden="true">c</kbd></a>`;
