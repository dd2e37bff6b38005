/** The page of a milestone: description, progress, and its issues and merge requests. */
import { may } from '../../../../core/access/may.ts';
import { today } from '../../../../core/access/viewer.ts';
import { linkedLabels } from '../../../../planning/issuables/lists/linked_labels.ts';
import type { Scope } from '../../../../planning/issuables/lists/list_kind.ts';
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../planning/issues/lists/list.ts';
import { countMilestoneIssues } from '../../../../planning/issues/lists/milestone_counts.ts';
import { loadMilestoneDays } from '../../../../planning/issues/lists/milestone_history.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, oneOf } from '../../../../platform/http/schema.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { findMilestoneByIid } from '../../../../projects/milestones/queries.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form } from '../../parts/form.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { pagesNav } from '../../parts/paging.ts';
import { issuesPath } from '../issues/paths.ts';
import { issueRow, parseIssue } from '../issues/list/issue_row.ts';
import {
  type OwnedList,
  type OwnedListRoute,
  ownerParams,
  workListPath,
} from '../labels/project_or_group_routes.ts';
import { milestoneRequestRow, parseMergeRequest } from './merge_request_row.ts';
import { progressCharts } from './progress_charts.ts';
import { datesPart, progressBar, spellProgress } from './dates_and_progress.ts';

type Tab = 'issues' | 'merge_requests';

const scopeOf = ({ project, owner }: OwnedList): Scope =>
  project === null ? { group_id: owner.id } : { project };

/** Nothing but the milestone selects; the newest come first. */
const filtersFor = ({ id: milestone_id }: MilestoneRow) =>
  ({ scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc', milestone_id }) as const;

type Records = { rows: Html[]; total: number };

const loadIssues = async (
  visit: Visit,
  list: OwnedList,
  row: MilestoneRow,
  at: PageRequest,
): Promise<Records> => {
  const { call } = visit;
  const query = { call, scope: scopeOf(list), filters: filtersFor(row), page: at, texts: issueTexts };
  const { items, total } = await listIssues(query);
  const issues = items.map(parseIssue);
  const labels = await linkedLabels(
    call.db,
    'Issue',
    issues.map((issue) => issue.id),
  );
  const context = {
    labelHref: (name: string) => workListPath(visit, list, 'issues', { labels: name }) ?? list.path,
    today: today(call.now),
    showsProject: list.project === null,
  };
  return {
    rows: issues.map((issue) => issueRow(issue, { ...context, labels: labels.get(issue.id) ?? [] })),
    total,
  };
};

const loadRequests = async (
  { call }: Visit,
  list: OwnedList,
  row: MilestoneRow,
  at: PageRequest,
): Promise<Records> => {
  const query = { call, scope: scopeOf(list), filters: filtersFor(row), page: at, texts: mergeRequestTexts };
  const { items, total } = await listMergeRequests(query);
  return {
    rows: items.map((item) => milestoneRequestRow(parseMergeRequest(item), list.project === null)),
    total,
  };
};

const recordsPart = async (
  visit: Visit,
  list: OwnedList,
  row: MilestoneRow,
  { tab, at }: { tab: Tab; at: PageRequest },
): Promise<Html> => {
  const path = `${list.path}/${row.iid}`;
  const first = { ...at, page: 1, limit: 1, offset: 0 };
  const isIssues = tab === 'issues';
  const issues = await loadIssues(visit, list, row, isIssues ? at : first);
  const requests = await loadRequests(visit, list, row, isIssues ? first : at);
  const shown = isIssues ? issues : requests;
  const links = tabs('Contents', [
    { path, name: 'Issues', icon: 'issue', count: issues.total, isHere: isIssues },
    {
      path: `${path}?tab=merge_requests`,
      name: 'Merge requests',
      icon: 'merge-request',
      count: requests.total,
      isHere: !isIssues,
    },
  ]);
  const none = isIssues
    ? emptyState({ icon: 'issue', title: 'No issues on this milestone' })
    : emptyState({ icon: 'merge-request', title: 'No merge requests on this milestone' });
  return html`${links}
<section class="card" aria-label="${isIssues ? 'Issues' : 'Merge requests'}">${
    shown.rows.length === 0 ? none : html`<ul class="list issues">${shown.rows}</ul>`
  }</section>
${pagesNav({ path, query: { tab: isIssues ? undefined : tab }, page: at, total: shown.total })}`;
};

const actions = (visit: Visit, { path }: OwnedList, { iid, state }: MilestoneRow): Html => {
  const milestonePath = `${path}/${iid}`;
  const isOpen = state === 'active';
  return html`<a class="button" href="${milestonePath}/edit" data-key="e">${icon('pencil')} Edit</a>${form(
    visit,
    {
      action: `${milestonePath}/${isOpen ? 'close' : 'activate'}`,
      submit: isOpen ? 'Close milestone' : 'Reopen milestone',
      isQuiet: true,
    },
  )}`;
};

/** Links to a new issue on the milestone, for users who can choose it in the form. */
const newIssueLink = (
  { call }: Visit,
  { project }: OwnedList,
  { id: milestone_id, state }: MilestoneRow,
): Html | null => {
  const isAllowed =
    project !== null && may(call.viewer, 'create_issue', project) && may(call.viewer, 'admin_issue', project);
  if (!isAllowed || state !== 'active') return null;
  const query = new URLSearchParams({ 'issue[milestone_id]': String(milestone_id) }).toString();
  return html`<a class="button" href="${issuesPath(project)}/new?${query}">${icon('plus')} New issue</a>`;
};

const aside = async (visit: Visit, row: MilestoneRow): Promise<Html> => {
  const { call } = visit;
  const counts = (await countMilestoneIssues(call, [row.id])).get(row.id) ?? { opened: 0, closed: 0 };
  const changes = await loadMilestoneDays(call, row.id);
  const day = today(call.now);
  const charts = progressCharts({ ...row, changes, today: day });
  return html`<div class="aside"><section><h2>Progress</h2><p>${spellProgress(counts)}</p>${progressBar(counts)}</section>
<section><h2>Dates</h2><p class="row">${datesPart(row, day)}</p></section>
${charts}</div>`;
};

const oneView = async (
  visit: Visit,
  list: OwnedList,
  row: MilestoneRow,
  shown: { tab: Tab; at: PageRequest },
): Promise<View> => {
  const isOpen = row.state === 'active';
  const description = row.description ?? '';
  const content = html`<div class="row between top"><h1>${row.title}</h1><div class="buttons">${newIssueLink(visit, list, row)}${list.canChange && actions(visit, list, row)}</div></div>
<div class="row"><span class="state ${isOpen ? 'open' : 'closed'}">${icon(isOpen ? 'milestone' : 'check-circle')} ${isOpen ? 'Open' : 'Closed'}</span><span class="muted">Milestone %${row.iid}</span></div>
<div class="with-aside"><div class="stack">${
    description !== '' &&
    html`<section class="card" aria-label="Description"><div class="body prose">${await markdown(visit.call, description, { project: list.project })}</div></section>`
  }${await recordsPart(visit, list, row, shown)}</div>
${await aside(visit, row)}</div>`;
  return list.view(visit, { title: row.title, hasHeading: true }, content);
};

export const onePage = (kind: OwnedListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:iid`,
    audience: 'user',
    params: object({
      ...ownerParams,
      iid: id(),
      tab: oneOf(['issues', 'merge_requests'], { default: 'issues' }),
      ...pageParams,
    }),
    handle: async (visit, { iid, tab, ...params }) => {
      const list = await kind.find(visit.call, params);
      const row = await findMilestoneByIid(visit.call.db, list.owner, iid);
      return await oneView(visit, list, row, { tab, at: pageRequest(params) });
    },
  });
