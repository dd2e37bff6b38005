/** The page of a list of merge requests. Projects, groups and own work mount it. */
import { requestOrderNames } from '../../../../../planning/issuables/lists/record_kinds.ts';
import { countMergeRequests } from '../../../../../review/merge_requests/lists/counts.ts';
import { mergeRequestTexts } from '../../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../../review/merge_requests/lists/list.ts';
import { Redirect, type View, type Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import {
  type FilterField,
  periodField,
  presenceField,
  sharedFields,
} from '../../issuables/list/filter_bar.ts';
import { addressOf } from '../../issuables/list/filter_chips.ts';
import { type ListedKind, answerTyped, listView } from '../../issuables/list/list_page.ts';
import type { StateTab } from '../../issuables/list/list_parts.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { RequestListScope } from '../../issuables/list/list_scope.ts';
import { requestLanguage } from '../../issuables/list/typed_terms.ts';
import { type ListQuery, type RequestListQuery, type State, readShownQuery } from './read_query.ts';
import { requestRows } from './load_rows.ts';

type Counts = Record<State, number>;

/** Counts the merge requests of each state. The total of the state that is shown is known. */
const countStates = async (
  { call }: Visit,
  { scope }: RequestListScope,
  { filters, state }: ListQuery,
  total: number,
): Promise<Counts> => {
  const count = async (one: State): Promise<number> =>
    one === state ? total : await countMergeRequests(call, scope, { ...filters, state: one });
  const [opened, merged] = [await count('opened'), await count('merged')];
  const closed = state === 'all' ? total - opened - merged : await count('closed');
  return { opened, merged, closed, all: opened + merged + closed };
};

const tabsOf = (counts: Counts): StateTab<State>[] => [
  { state: 'opened', content: html`${icon('merge-request')} Open`, count: counts.opened },
  { state: 'merged', content: html`${icon('check-circle')} Merged`, count: counts.merged },
  { state: 'closed', content: html`${icon('cross-circle')} Closed`, count: counts.closed },
  { state: 'all', content: html`All`, count: counts.all },
];

const fields: readonly FilterField[] = [
  ...sharedFields,
  { name: 'reviewer_username', label: 'Reviewer', hint: 'User name', suggests: 'members' },
  presenceField('reviewer_id', 'Review requested from'),
  { name: 'or[reviewer_username]', label: 'Any of these reviewers', hint: 'User names, separated by commas' },
  { name: 'not[reviewer_username]', label: 'Not reviewed by', hint: 'User names, separated by commas' },
  {
    name: 'my_review',
    label: 'My review',
    options: [
      ['waiting', 'Waiting for me'],
      ['returned', 'Returned to me'],
    ],
  },
  periodField('merged', 'Merged'),
  {
    name: 'approved_by_usernames',
    label: 'Approved by',
    hint: 'User names, separated by commas: by all of them; or None or Any',
  },
  { name: 'environment', label: 'Deployed to', hint: 'Name of an environment' },
  { name: 'source_branch', label: 'Source branch', suggests: 'branches' },
  { name: 'target_branch', label: 'Target branch', suggests: 'branches' },
  {
    name: 'draft',
    label: 'Draft',
    options: [
      ['true', 'Only drafts'],
      ['false', 'Without drafts'],
    ],
  },
  {
    name: 'approved',
    label: 'Approved',
    options: [
      ['yes', 'Approved'],
      ['no', 'Not approved'],
    ],
  },
];

const requestListKind: ListedKind<State> = {
  noun: 'merge_requests',
  sign: '!',
  title: 'Merge requests',
  texts: {
    one: 'merge request',
    many: 'merge requests',
    icon: 'merge-request',
    purpose: 'A merge request proposes the commits of a branch for review.',
    states: { opened: 'open ', merged: 'merged ', closed: 'closed ', all: '' },
  },
  language: requestLanguage,
  bar: {
    placeholder: html`Filter: label:bug, review:waiting, target:main, is:draft, or words&hellip;`,
    fields,
    orders: requestOrderNames,
  },
};

/** Renders the rows of the list, with the statements that an answer of the API takes and three for their facts. */
const rowsPart = async (
  { call }: Visit,
  { path, project, scope }: RequestListScope,
  { filters, page }: ListQuery,
): Promise<{ rows: Html[]; total: number }> => {
  const { items, total } = await listMergeRequests({ call, scope, filters, page, texts: mergeRequestTexts });
  const shown = { listPath: () => path, showsProject: project === null, isSelectable: call.signedIn };
  return { rows: await requestRows(call, items, shown), total };
};

/** Links to what waits for the review of the user. */
const reviewLink = (
  { call }: Visit,
  { path, ownScope }: RequestListScope,
  { otherParams }: ListQuery,
): Html | null => {
  if (ownScope !== undefined) return null;
  return call.signedIn
    ? html`<a class="button" href="${addressOf(path, { ...otherParams, my_review: 'waiting' })}">Needs my review</a>`
    : null;
};

/** Renders a list of merge requests; redirects to the address for text typed into the box. */
export const requestList = async (
  visit: Visit,
  whole: RequestListScope,
  query: RequestListQuery,
): Promise<View | Redirect> => {
  const list = await narrowToProject(visit, whole, query.project_path);
  const read = readShownQuery(query, { ...list, now: visit.call.now });
  const typed = answerTyped(visit, list, requestListKind, { query: read, typed: query.q ?? null });
  if (typed instanceof Redirect) return typed;
  const { rows, total } = await rowsPart(visit, list, read);
  const tabs = tabsOf(await countStates(visit, list, read, total));
  const link = reviewLink(visit, list, read);
  return await listView(visit, list, requestListKind, { query: read, rows, total, tabs, link, typed });
};
