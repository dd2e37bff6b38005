/** The page of a list of merge requests. Projects, groups and own work mount it. */
import { linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { countMergeRequests } from '../../../../../review/merge_requests/lists/counts.ts';
import { mergeRequestTexts } from '../../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../../review/merge_requests/lists/list.ts';
import { loadRowFacts } from '../../../../../review/merge_requests/lists/row_facts.ts';
import { type Redirect, type View, type Visit, redirect } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { bulkMenu } from '../../issuables/bulk/bulk_form.ts';
import { addressOf, chipQuery } from '../../issuables/list/filter_chips.ts';
import { formatsMenu } from '../../issuables/list/formats_menu.ts';
import { type FilterField, filterBar, sharedFields } from '../../issuables/list/filter_bar.ts';
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
import { mergeChips, readTyped, requestLanguage } from '../../issuables/list/typed_filter.ts';
import type { RequestListScope } from '../list_scope.ts';
import { type ListQuery, type RequestListQuery, type State, readQuery } from './read_query.ts';
import { parseRequest, requestRow } from './request_row.ts';

/** Returns the address for the typed text: of a merge request by its number, or of the list with more filters. */
const typedAddress = (
  { call }: Visit,
  { path, project }: RequestListScope,
  query: ListQuery,
  q: string,
): string => {
  const [, number] = /^\s*!(\d{1,9})\s*$/.exec(q) ?? [];
  if (number !== undefined && project !== null) return `${path}/${number}`;
  const typed = readTyped(q, call.actor?.user.username ?? null, requestLanguage);
  const state = typed.state ?? query.state;
  return addressOf(path, {
    ...query.otherParams,
    state: state === 'opened' ? undefined : state,
    ...chipQuery(mergeChips(query.chips, typed.chips)),
  });
};

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

const words: ListTexts<State> = {
  one: 'merge request',
  many: 'merge requests',
  icon: 'merge-request',
  states: { opened: 'open ', merged: 'merged ', closed: 'closed ', all: '' },
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

const bar = {
  words: 'merge requests',
  placeholder: 'Filter: label:bug, reviewer:me, target:main, is:draft, or words…',
  fields,
};

/** Renders the rows of the list, with the statements that an answer of the API takes and three for their facts. */
const rowsPart = async (
  { call }: Visit,
  { path, project, scope }: RequestListScope,
  { filters, page }: ListQuery,
): Promise<{ rows: Html[]; total: number }> => {
  const { items, total } = await listMergeRequests({ call, scope, filters, page, texts: mergeRequestTexts });
  const requests = items.map(parseRequest);
  const ids = requests.map(({ id }) => id);
  const [labels, facts] = await Promise.all([
    linkedLabels(call.db, 'MergeRequest', ids),
    loadRowFacts(call, ids),
  ]);
  const context = {
    labelHref: (title: string) => addressOf(path, { labels: title }),
    showsProject: project === null,
    isSelectable: call.signedIn,
  };
  const rows = requests.map((request) =>
    requestRow(request, { ...context, labels: labels.get(request.id) ?? [], facts: facts.get(request.id) }),
  );
  return { rows, total };
};

/** Links to what waits for the review of the user. */
const reviewLink = (
  { call }: Visit,
  { path, ownScope }: RequestListScope,
  { otherParams }: ListQuery,
): Html | null => {
  if (ownScope !== undefined) return null;
  const username = call.actor?.user.username;
  return username === undefined
    ? null
    : html`<a class="button" href="${addressOf(path, { ...otherParams, reviewer_username: username })}">Needs my review</a>`;
};

/** Renders a list of merge requests; redirects to the address for text typed into the box. */
export const requestList = async (
  visit: Visit,
  list: RequestListScope,
  query: RequestListQuery,
): Promise<View | Redirect> => {
  const read = readQuery(query, list);
  if (query.q !== undefined) return redirect(typedAddress(visit, list, read, query.q));
  const { path, newPath, view } = list;
  const { rows, total } = await rowsPart(visit, list, read);
  const filtered = { ...read.otherParams, ...chipQuery(read.chips) };
  const views = await viewsMenu(visit, { scope: list.scope, kind: 'merge_requests', path, query: filtered });
  const counts = await countStates(visit, list, read, total);
  const card =
    rows.length === 0
      ? html`<section class="card" aria-label="Merge requests">${emptyPart(list, read, { words, total })}</section>`
      : listCard({
          name: 'Merge requests',
          summary: listSummary(read, words, { shown: rows.length, total }),
          rows,
          formats: formatsMenu(visit, list.formats, filtered),
          bulk: visit.call.signedIn
            ? bulkMenu(visit, { scope: list.scope, segment: 'merge_requests', back: visit.path })
            : null,
        });
  return view(
    'Merge requests',
    html`<h1 class="visually-hidden">Merge requests</h1>
<div class="row between">${stateTabs(path, read, { words, tabs: tabsOf(counts) })}<div class="row">${reviewLink(visit, list, read)}${newPath !== null && newButton(newPath, 'merge request')}</div></div>
${filterBar({ ...bar, scope: list.scope, path, chips: read.chips, otherParams: read.otherParams }, read.order, views)}
${card}
${pagesNav({ path, query: filtered, page: read.page, total })}`,
  );
};
