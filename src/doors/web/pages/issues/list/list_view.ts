/** The list of issues of any place. `places` of projects, groups and own work mount it. */
import { today } from '../../../../../core/access/viewer.ts';
import { linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../../planning/issues/lists/list.ts';
import { countIssues } from '../../../../../planning/issues/lists/statistics.ts';
import { type Redirect, type View, type Visit, redirect } from '../../../page.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { pagesNav } from '../../../parts/paging.ts';
import type { IssuePlace } from '../place.ts';
import { addressOf, chipQuery } from './chips.ts';
import { filterBar } from './filter_bar.ts';
import { mergeChips, readTyped } from './query_box.ts';
import { type IssueListQuery, type ListQuery, type State, readQuery } from './read_query.ts';
import { issueRow, parseIssue } from './row.ts';

/** Returns the address that means what was typed: an issue by its number, or the list with more filters. */
const typedAddress = (
  { call }: Visit,
  { path, project }: IssuePlace,
  query: ListQuery,
  q: string,
): string => {
  const [, number] = /^\s*#(\d{1,9})\s*$/.exec(q) ?? [];
  if (number !== undefined && project !== null) return `/${project.full_path}/issues/${number}`;
  const typed = readTyped(q, call.actor?.user.username ?? null);
  const state = typed.state ?? query.state;
  return addressOf(path, {
    ...query.others,
    state: state === 'opened' ? undefined : state,
    ...chipQuery(mergeChips(query.chips, typed.chips)),
  });
};

type Counts = Record<State, number>;

/** Counts the issues of each state. The total of the state that is shown is known. */
const countStates = async (
  { call }: Visit,
  { scope }: IssuePlace,
  { filters, state }: ListQuery,
  total: number,
): Promise<Counts> => {
  const count = async (one: 'opened' | 'closed'): Promise<number> =>
    one === state ? total : await countIssues(call, scope, { ...filters, state: one });
  const opened = await count('opened');
  const closed = state === 'all' ? total - opened : await count('closed');
  return { opened, closed, all: opened + closed };
};

const stateTabs = ({ path }: IssuePlace, { state, others, chips }: ListQuery, counts: Counts): Html => {
  const tab = (one: State, content: Html): Html => {
    const query = { ...others, state: one === 'opened' ? undefined : one, ...chipQuery(chips) };
    return html`<a class="button" href="${addressOf(path, query)}"${one === state && html` aria-current="page"`}>${content} <span class="count">${counts[one]}</span></a>`;
  };
  return html`<nav class="segmented" aria-label="Issues by state">${tab('opened', html`${icon('issue')} Open`)}${tab('closed', html`${icon('check-circle')} Closed`)}${tab('all', html`All`)}</nav>`;
};

const stateWords: Record<State, string> = { opened: 'open ', closed: 'closed ', all: '' };

const summary = ({ state, page, chips }: ListQuery, shown: number, total: number): string => {
  const first = page.offset + 1;
  const of = `${total} ${stateWords[state]}${total === 1 ? 'issue' : 'issues'}`;
  const range = shown === total ? of : `${first}–${page.offset + shown} of ${of}`;
  return chips.length === 0 ? range : `${range} ${total === 1 ? 'matches' : 'match'}`;
};

const keyHints = html`<span class="muted small keys-hint" aria-hidden="true"><kbd>j</kbd> <kbd>k</kbd> move · <kbd>o</kbd> open</span>`;

const emptyPart = ({ path, newPath }: IssuePlace, { chips, state, page }: ListQuery, total: number): Html => {
  if (total > 0 && page.page > 1) {
    return emptyState({
      icon: 'issue',
      title: 'This page has no issues',
      action: html`<a href="${path}">First page</a>`,
    });
  }
  if (chips.length > 0) {
    return emptyState({
      icon: 'search',
      title: 'No issues match',
      text: 'Remove a filter, or look among closed issues.',
      action: html`<a href="${path}">Remove all filters</a>`,
    });
  }
  const title = state === 'all' ? 'No issues' : `No ${stateWords[state]}issues`;
  const action = newPath !== null && html`<a class="button" href="${newPath}">New issue</a>`;
  return emptyState({ icon: 'issue', title, action });
};

/** Renders the rows of the list, with the statements that an answer of the API takes and one for the labels. */
const rowsPart = async (
  { call }: Visit,
  { path, project, scope }: IssuePlace,
  { filters, page }: ListQuery,
): Promise<{ rows: Html[]; total: number }> => {
  const { items, total } = await listIssues({ call, scope, filters, page, texts: issueTexts });
  const issues = items.map(parseIssue);
  const labels = await linkedLabels(
    call.db,
    'Issue',
    issues.map(({ id }) => id),
  );
  const context = {
    labelHref: (title: string) => addressOf(path, { labels: title }),
    today: today(call.now),
    namesProject: project === null,
  };
  return {
    rows: issues.map((issue) => issueRow(issue, { ...context, labels: labels.get(issue.id) ?? [] })),
    total,
  };
};

const exportLink = ({ exportPath = null }: IssuePlace, { others, chips }: ListQuery): Html | null =>
  exportPath === null
    ? null
    : html`<a class="small" href="${addressOf(exportPath, { ...others, ...chipQuery(chips) })}" download>${icon('download')} CSV</a>`;

const newButton = (newPath: string): Html =>
  html`<a class="button primary" href="${newPath}" data-key="i" data-key-2="c">${icon('plus')} New issue <kbd aria-hidden="true">c</kbd></a>`;

/** Renders a list of issues; redirects to the address that means what was typed into the box. */
export const issueList = async (
  visit: Visit,
  place: IssuePlace,
  query: IssueListQuery,
): Promise<View | Redirect> => {
  const read = readQuery(query, place);
  if (query.q !== undefined) return redirect(typedAddress(visit, place, read, query.q));
  const { path, newPath, view } = place;
  const { rows, total } = await rowsPart(visit, place, read);
  const counts = await countStates(visit, place, read, total);
  const bar = { path, chips: read.chips, others: read.others };
  const list =
    rows.length === 0
      ? emptyPart(place, read, total)
      : html`<header><span class="muted">${summary(read, rows.length, total)}</span><span class="end row">${exportLink(place, read)}${keyHints}</span></header><ul class="list issues">${rows}</ul>`;
  return view(
    'Issues',
    html`<h1 class="visually-hidden">Issues</h1>
<div class="row between">${stateTabs(place, read, counts)}${newPath !== null && newButton(newPath)}</div>
${filterBar(bar, read.order)}
<section class="card" aria-label="Issues">${list}</section>
${pagesNav({ path, query: { ...read.others, ...chipQuery(read.chips) }, page: read.page, total })}`,
  );
};
