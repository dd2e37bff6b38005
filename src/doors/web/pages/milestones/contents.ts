/** The tabs of a milestone's page: its issues, its merge requests, and the participants and labels of its issues. */
import {
  type CountedLabel,
  type MilestoneParticipant,
  countMilestoneLabels,
  listMilestoneParticipants,
  maxParts,
} from '../../../../planning/issues/lists/milestone_breakdown.ts';
import type { Scope } from '../../../../planning/issuables/lists/list_kind.ts';
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../planning/issues/lists/list.ts';
import type { IssueCounts } from '../../../../planning/issues/lists/milestone_counts.ts';
import { countIssues } from '../../../../planning/issues/lists/statistics.ts';
import type { PageRequest } from '../../../../platform/http/page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { countMergeRequests } from '../../../../review/merge_requests/lists/counts.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import type { Visit } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import type { IconName } from '../../parts/icon.ts';
import { label } from '../../parts/label.ts';
import { pagesNav } from '../../parts/paging.ts';
import { userLink } from '../../parts/user_link.ts';
import { issueRows } from '../issues/list/load_rows.ts';
import { requestRows } from '../merge_requests/list/load_rows.ts';
import { type OwnedList, workListPath } from '../labels/project_or_group_routes.ts';
import { progressBar } from './dates_and_progress.ts';

export const contentTabs = ['issues', 'merge_requests', 'participants', 'labels'] as const;
type Tab = (typeof contentTabs)[number];

/** Tabs whose lists have several pages. */
type PagedTab = 'issues' | 'merge_requests';

const isPaged = (tab: Tab): tab is PagedTab => tab === 'issues' || tab === 'merge_requests';

/** The requested tab, and the page of its list. */
export type Shown = { tab: Tab; at: PageRequest };

const kinds: Record<Tab, { name: string; icon: IconName; none: string }> = {
  issues: { name: 'Issues', icon: 'issue', none: 'No issues on this milestone' },
  merge_requests: {
    name: 'Merge requests',
    icon: 'merge-request',
    none: 'No merge requests on this milestone',
  },
  participants: { name: 'Participants', icon: 'users', none: 'Nobody is assigned to an issue' },
  labels: { name: 'Labels', icon: 'label', none: 'No issue has a label' },
};

type Place = { visit: Visit; list: OwnedList; row: MilestoneRow };

const toScope = ({ project, owner }: OwnedList): Scope =>
  project === null ? { group_id: owner.id } : { project };

/** Nothing but the milestone selects; the newest come first. */
const toFilters = ({ id: milestone_id }: MilestoneRow) =>
  ({ scope: 'all', state: 'all', order_by: 'created_at', sort: 'desc', milestone_id }) as const;

const issueList = async ({ visit, list, row }: Place, page: PageRequest): Promise<Html[]> => {
  const { call } = visit;
  const query = { call, scope: toScope(list), filters: toFilters(row), page, texts: issueTexts };
  const { items } = await listIssues(query);
  const listPath = workListPath(visit, list, 'issues', {}) ?? list.path;
  return await issueRows(call, items, { listPath: () => listPath, showsProject: list.project === null });
};

const requestList = async ({ visit, list, row }: Place, page: PageRequest): Promise<Html[]> => {
  const { call } = visit;
  const query = { call, scope: toScope(list), filters: toFilters(row), page, texts: mergeRequestTexts };
  const { items } = await listMergeRequests(query);
  const listPath = workListPath(visit, list, 'merge_requests', {}) ?? list.path;
  return await requestRows(call, items, { listPath: () => listPath, showsProject: list.project === null });
};

/** Renders numbers of issues as a link to these issues, with the share of closed ones. */
const countPart = (
  { visit, list, row }: Place,
  counts: IssueCounts,
  filter: Record<string, string>,
): Html => {
  const { opened, closed } = counts;
  const query = { milestone: row.title, ...filter, state: 'all' };
  const words = `${spellCount(opened, 'open issue')}, ${closed} closed`;
  const href = workListPath(visit, list, 'issues', query);
  return html`<span class="side progress">${href === null ? words : html`<a href="${href}">${words}</a>`}${progressBar(counts)}</span>`;
};

const participantRow = (place: Place, { opened, closed, ...user }: MilestoneParticipant): Html =>
  html`<li><span class="heading">${userLink(user)}</span>${countPart(place, { opened, closed }, { assignee_username: user.username })}</li>
`;

const labelRow = (place: Place, { opened, closed, ...one }: CountedLabel): Html =>
  html`<li><span class="heading">${label(one)}</span>${countPart(place, { opened, closed }, { labels: one.name })}</li>
`;

type Contents = {
  /** Totals of the tabs with pages. */
  totals: Record<PagedTab, number>;
  /** Rows of the shown tab; one more than are shown if it is cut. */
  rows: Html[];
};

/**
 * Loads the totals of issues and merge requests, and the rows of one tab. Participants and labels are counted for their
 * own tabs only, as that reads all issues. The number of statements does not depend on the milestone.
 */
const loadContents = async (place: Place, { tab, at }: Shown): Promise<Contents> => {
  const { visit, list, row } = place;
  const { call } = visit;
  // One after the other: on PostgreSQL, long reads of one user take turns anyway.
  const issues = await countIssues(call, toScope(list), toFilters(row));
  const requests = await countMergeRequests(call, toScope(list), toFilters(row));
  const render: Record<Tab, () => Promise<Html[]>> = {
    issues: async () => await issueList(place, at),
    merge_requests: async () => await requestList(place, at),
    participants: async () =>
      (await listMilestoneParticipants(call, row.id)).map((one) => participantRow(place, one)),
    labels: async () => (await countMilestoneLabels(call, row.id)).map((one) => labelRow(place, one)),
  };
  return { totals: { issues, merge_requests: requests }, rows: await render[tab]() };
};

/** Renders the tabs of a milestone and the list of the requested one. */
export const contentsPart = async (place: Place, shown: Shown): Promise<Html> => {
  const { tab, at } = shown;
  const path = `${place.list.path}/${place.row.iid}`;
  const { totals, rows } = await loadContents(place, shown);
  const isCut = !isPaged(tab) && rows.length > maxParts;
  const countOf = (one: Tab): number | string | undefined => {
    if (isPaged(one)) return totals[one];
    if (one !== tab) return undefined;
    return isCut ? `${maxParts}+` : rows.length;
  };
  const query = { tab: tab === 'issues' ? undefined : tab };
  const links = contentTabs.map((one) => ({
    path: one === 'issues' ? path : `${path}?tab=${one}`,
    name: kinds[one].name,
    icon: kinds[one].icon,
    count: countOf(one),
    isHere: one === tab,
  }));
  const { name, icon, none } = kinds[tab];
  return html`${tabs('Contents', links)}
<section class="card" aria-label="${name}">${
    rows.length === 0
      ? emptyState({ icon, title: none })
      : html`<ul class="list${isPaged(tab) && ' issues'}">${isCut ? rows.slice(0, maxParts) : rows}</ul>`
  }${isCut && html`<p class="more muted">The first ${maxParts} are shown.</p>`}</section>
${isPaged(tab) && pagesNav({ path, query, page: at, total: totals[tab] })}`;
};
