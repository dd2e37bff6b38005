/** The page of a list of issues. Projects, groups and own work mount it. */
import { issueOrderNames } from '../../../../../planning/issuables/lists/record_kinds.ts';
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../../planning/issues/lists/list.ts';
import { countIssues } from '../../../../../planning/issues/lists/statistics.ts';
import { Redirect, type View, type Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { type ListedKind, answerTyped, listView } from '../../issuables/list/list_page.ts';
import type { StateTab } from '../../issuables/list/list_parts.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { IssueListScope } from '../../issuables/list/list_scope.ts';
import { issueLanguage } from '../../issuables/list/typed_terms.ts';
import { issueFields } from './filter_fields.ts';
import { type IssueListQuery, type ListQuery, type State, readShownQuery } from './read_query.ts';
import { issueRows } from './load_rows.ts';

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

export const issueListKind: ListedKind<State> = {
  noun: 'issues',
  sign: '#',
  title: 'Issues',
  texts: {
    one: 'issue',
    many: 'issues',
    icon: 'issue',
    purpose: 'Issues collect bugs, ideas and tasks.',
    states: { opened: 'open ', closed: 'closed ', all: '' },
  },
  language: issueLanguage,
  bar: {
    placeholder: html`Filter: label:bug, assignee:me, due:overdue, or words&hellip;`,
    fields: issueFields,
    orders: issueOrderNames,
  },
};

const tabsOf = (counts: Counts): StateTab<State>[] => [
  { state: 'opened', content: html`${icon('issue')} Open`, count: counts.opened },
  { state: 'closed', content: html`${icon('check-circle')} Closed`, count: counts.closed },
  { state: 'all', content: html`All`, count: counts.all },
];

/** Renders the rows of the list, with the statements that an answer of the API takes and two for labels and links. */
const rowsPart = async (
  { call }: Visit,
  { path, project, scope }: IssueListScope,
  { filters, page }: ListQuery,
): Promise<{ rows: Html[]; total: number }> => {
  const { items, total } = await listIssues({ call, scope, filters, page, texts: issueTexts });
  const shown = { listPath: () => path, showsProject: project === null, isSelectable: call.signedIn };
  return { rows: await issueRows(call, items, shown), total };
};

/** Renders a list of issues; redirects to the address for text typed into the box. */
export const issueList = async (
  visit: Visit,
  whole: IssueListScope,
  query: IssueListQuery,
): Promise<View | Redirect> => {
  const list = await narrowToProject(visit, whole, query.project_path);
  const read = readShownQuery(query, { ...list, now: visit.call.now });
  const typed = answerTyped(visit, list, issueListKind, { query: read, typed: query.q ?? null });
  if (typed instanceof Redirect) return typed;
  const { rows, total } = await rowsPart(visit, list, read);
  const tabs = tabsOf(await countStates(visit, list, read, total));
  return await listView(visit, list, issueListKind, { query: read, rows, total, tabs, typed });
};
