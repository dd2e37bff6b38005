/** The page of a list of issues. Projects, groups and own work mount it. */
import { today } from '../../../../../core/access/viewer.ts';
import { linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../../planning/issues/lists/list.ts';
import { countIssues } from '../../../../../planning/issues/lists/statistics.ts';
import { type Redirect, type View, type Visit, redirect } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { pagesNav } from '../../../parts/paging.ts';
import type { IssueListScope } from '../list_scope.ts';
import { bulkMenu } from '../../issuables/bulk/bulk_form.ts';
import { addressOf, chipQuery } from '../../issuables/list/filter_chips.ts';
import { formatsMenu } from '../../issuables/list/formats_menu.ts';
import { filterBar } from '../../issuables/list/filter_bar.ts';
import {
  type ListTexts,
  type StateTab,
  emptyPart,
  listCard,
  listSummary,
  newButton,
  stateTabs,
} from '../../issuables/list/list_parts.ts';
import { viewsMenu } from '../../issuables/list/views_menu.ts';
import { issueLanguage, mergeChips, readTyped } from '../../issuables/list/typed_filter.ts';
import { issueFields } from './filter_fields.ts';
import { type IssueListQuery, type ListQuery, type State, readQuery } from './read_query.ts';
import { issueRow, parseIssue } from './issue_row.ts';

/** Returns the address for the typed text: of an issue by its number, or of the list with more filters. */
export const typedAddress = (
  { call }: Visit,
  { path, project }: Pick<IssueListScope, 'path' | 'project'>,
  query: ListQuery,
  q: string,
): string => {
  const [, number] = /^\s*#(\d{1,9})\s*$/.exec(q) ?? [];
  if (number !== undefined && project !== null) return `/${project.full_path}/issues/${number}`;
  const typed = readTyped(q, call.actor?.user.username ?? null, issueLanguage);
  const state = typed.state ?? query.state;
  return addressOf(path, {
    ...query.otherParams,
    state: state === 'opened' ? undefined : state,
    ...chipQuery(mergeChips(query.chips, typed.chips)),
  });
};

type Counts = Record<State, number>;

/** Counts the issues of each state. The total of the state that is shown is known. */
const countStates = async (
  { call }: Visit,
  { scope }: IssueListScope,
  { filters, state }: ListQuery,
  total: number,
): Promise<Counts> => {
  const count = async (one: 'opened' | 'closed'): Promise<number> =>
    one === state ? total : await countIssues(call, scope, { ...filters, state: one });
  const opened = await count('opened');
  const closed = state === 'all' ? total - opened : await count('closed');
  return { opened, closed, all: opened + closed };
};

const words: ListTexts<State> = {
  one: 'issue',
  many: 'issues',
  icon: 'issue',
  states: { opened: 'open ', closed: 'closed ', all: '' },
};

const tabsOf = (counts: Counts): StateTab<State>[] => [
  { state: 'opened', content: html`${icon('issue')} Open`, count: counts.opened },
  { state: 'closed', content: html`${icon('check-circle')} Closed`, count: counts.closed },
  { state: 'all', content: html`All`, count: counts.all },
];

const bar = {
  words: 'issues',
  placeholder: 'Filter: label:bug, assignee:me, due:overdue, or words…',
  fields: issueFields,
  isOrderedByHand: true,
};

/** Renders the rows of the list, with the statements that an answer of the API takes and one for the labels. */
const rowsPart = async (
  { call }: Visit,
  { path, project, scope }: IssueListScope,
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
    showsProject: project === null,
    isSelectable: call.signedIn,
  };
  return {
    rows: issues.map((issue) => issueRow(issue, { ...context, labels: labels.get(issue.id) ?? [] })),
    total,
  };
};

/** Renders a list of issues; redirects to the address for text typed into the box. */
export const issueList = async (
  visit: Visit,
  list: IssueListScope,
  query: IssueListQuery,
): Promise<View | Redirect> => {
  const read = readQuery(query, list);
  if (query.q !== undefined) return redirect(typedAddress(visit, list, read, query.q));
  const { path, newPath, view } = list;
  const { rows, total } = await rowsPart(visit, list, read);
  const filtered = { ...read.otherParams, ...chipQuery(read.chips) };
  const views = await viewsMenu(visit, { scope: list.scope, kind: 'issues', path, query: filtered });
  const counts = await countStates(visit, list, read, total);
  const card =
    rows.length === 0
      ? html`<section class="card" aria-label="Issues">${emptyPart(list, read, { words, total })}</section>`
      : listCard({
          name: 'Issues',
          summary: listSummary(read, words, { shown: rows.length, total }),
          rows,
          formats: formatsMenu(visit, list.formats, filtered),
          bulk: visit.call.signedIn
            ? bulkMenu(visit, { scope: list.scope, segment: 'issues', back: visit.path })
            : null,
        });
  return view(
    'Issues',
    html`<h1 class="visually-hidden">Issues</h1>
<div class="row between">${stateTabs(path, read, { words, tabs: tabsOf(counts) })}${newPath !== null && newButton(newPath, 'issue')}</div>
${filterBar({ ...bar, scope: list.scope, path, chips: read.chips, otherParams: read.otherParams }, read.order, views)}
${card}
${pagesNav({ path, query: filtered, page: read.page, total })}`,
  );
};
