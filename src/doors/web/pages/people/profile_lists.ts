/** The lists of a profile: projects of the user, starred projects, groups. Each contains the records that the viewer sees. */
import { sql } from 'kysely';
import { allOf } from '../../../../core/access/visible.ts';
import { today } from '../../../../core/access/viewer.ts';
import { listGroups } from '../../../../identity/groups/list.ts';
import { groupsWithMember } from '../../../../identity/groups/visible.ts';
import { personalNamespaces } from '../../../../identity/users/queries.ts';
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import { dayMilliseconds } from '../../../../platform/time.ts';
import { starredBy } from '../../../../projects/projects/lists/list_filters.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { byAuthor } from '../../../events/list_activities.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList, visibilityMark } from '../../parts/projects/project_list.ts';
import { activityList } from '../../parts/timeline/activity_list.ts';
import { isContribution } from '../../../events/contributions.ts';
import { feedLink } from '../activity/activity_content.ts';
import { loadActivity } from '../activity/load_activity.ts';
import { searchForm } from '../../parts/search_form.ts';

export const profileTabs = ['projects', 'activity', 'starred', 'groups'] as const;

export type ProfileTab = (typeof profileTabs)[number];

export type PageQuery = {
  tab: ProfileTab;
  search?: string | null | undefined;
  /** The day of the activity. */
  day?: string | null | undefined;
  page: number;
  per_page: number;
};

export type Listing = { total: number; content: Html };

const emptyTexts: Record<Exclude<ProfileTab, 'activity'>, string> = {
  projects: 'No projects to show',
  starred: 'No starred projects to show',
  groups: 'No groups to show',
};

type ListedGroup = {
  name: string;
  full_name: string;
  full_path: string;
  description: string;
  visibility: string;
  avatar_url: string | null;
};

const groupItem = (group: ListedGroup): Html =>
  html`<li><span class="lead">${avatar({ name: group.name, avatar_url: group.avatar_url, size: 'medium', isSquare: true })}</span>
<span class="row tight"><a class="title" href="/groups/${group.full_path}">${group.full_name}</a>${visibilityMark(group.visibility)}</span>
<span class="meta"><span class="clamp">${group.description}</span></span></li>
`;

type Loaded = { total: number; list: Html };

const loadGroups = async (
  { call }: Visit,
  userId: number,
  { search, ...pageQuery }: Sent,
): Promise<Loaded> => {
  const within = groupsWithMember(userId, today(call.now));
  const params = { all_available: true, search, order_by: 'path', sort: 'asc', ...pageQuery } as const;
  const { items, total } = await listGroups(call, params, within);
  return { total, list: html`<ul class="list">${(items as ListedGroup[]).map(groupItem)}</ul>` };
};

type Sent = Pick<PageRequest, 'page' | 'per_page'> & { search: string };

const loadProjects = async (
  { call }: Visit,
  userId: number,
  { tab, ...sent }: Sent & { tab: 'projects' | 'starred' },
): Promise<Loaded> => {
  const namespace = (await personalNamespaces(call.db, [userId])).get(userId);
  const within =
    tab === 'starred' ? starredBy(userId) : sql<boolean>`projects.namespace_id = ${namespace?.id ?? 0}`;
  const params = { order_by: 'last_activity_at', sort: 'desc', ...sent } as const;
  const { items, total } = await listProjects(call, params, within);
  return { total, list: projectList(items as ListedProject[]) };
};

/** @param day `YYYY-MM-DD` */
const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMilliseconds).toISOString().slice(0, 10);

const activityListing = async (
  visit: Visit,
  userId: number,
  { path, asked: query }: { path: string; asked: PageQuery },
): Promise<Listing> => {
  const { call } = visit;
  const requestedPage = pageRequest(query);
  const day = query.day ?? null;
  // The list of a day shows exactly the events that the calendar counts.
  const scope = day === null ? byAuthor(userId) : allOf([byAuthor(userId), isContribution]);
  const { items, total } = await loadActivity(call, scope, {
    ...requestedPage,
    ...(day !== null && { after: addDays(day, -1), before: addDays(day, 1) }),
  });
  const kept = { tab: 'activity', day: day ?? undefined };
  const content = html`${day !== null && html`<p>Activity on <time datetime="${day}">${day}</time>, in UTC. <a href="${path}?tab=activity">All activity</a></p>`}<p>${feedLink(visit, `/users${path}/activity.atom`, {})}</p><div class="card">${activityList(items, { hasProject: true })}</div>
${pagesNav({ path, query: kept, page: requestedPage, total })}`;
  return { total, content };
};

/** Loads and renders the list of a tab. @param path of the profile */
export const profileListing = async (
  visit: Visit,
  userId: number,
  { path, asked: query }: { path: string; asked: PageQuery },
): Promise<Listing> => {
  const { tab } = query;
  if (tab === 'activity') return await activityListing(visit, userId, { path, asked: query });
  const search = query.search ?? '';
  const requestedPage = pageRequest(query);
  const sent = { search, page: requestedPage.page, per_page: requestedPage.per_page };
  const { total, list } =
    tab === 'groups'
      ? await loadGroups(visit, userId, sent)
      : await loadProjects(visit, userId, { ...sent, tab });
  const form = searchForm({ path, name: 'search', value: search, label: 'Filter by name', keep: { tab } });
  const isFiltered = search !== '';
  const content = html`${(total > 0 || isFiltered) && form}
<div class="card">${
    total === 0
      ? emptyState({
          icon: tab === 'groups' ? 'group' : 'folder',
          title: isFiltered ? 'No results' : emptyTexts[tab],
        })
      : list
  }</div>
${pagesNav({ path, query: { tab, search: isFiltered ? search : undefined }, page: requestedPage, total })}`;
  return { total, content };
};
