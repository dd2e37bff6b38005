/** Searches of records of the database. */
import { sql } from 'kysely';
import { may, mayInGroup } from '../../core/access/may.ts';
import { allOf, anyOf } from '../../core/access/visible.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { basicUser, basicUserShape } from '../../identity/users/json.ts';
import { selectUsers } from '../../identity/users/list.ts';
import type { Filters as IssueFilters } from '../../planning/issues/lists/filters.ts';
import { issueTexts } from '../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../planning/issues/lists/list.ts';
import { issueShape } from '../../planning/issues/json.ts';
import { commentsJson, commitNoteShape } from '../../planning/discussions/commits/comments.ts';
import { searchComments } from '../../planning/discussions/commits/search_comments.ts';
import { mixedNotesJson } from '../../planning/notes/json.ts';
import { type FoundNote, searchNotes } from '../../planning/notes/queries.ts';
import type { Page } from '../../platform/http/page.ts';
import { listMembers } from '../../projects/members/queries.ts';
import { groupSource, projectSource } from '../../projects/members/member_source.ts';
import { milestoneJson, milestoneShape } from '../../projects/milestones/json.ts';
import { selectMilestones } from '../../projects/milestones/queries.ts';
import { visibleMilestones } from '../../projects/milestones/visible.ts';
import { projectShape } from '../../projects/projects/json.ts';
import { listProjects } from '../../projects/projects/lists/list.ts';
import { renderSnippets, snippetShape } from '../../projects/snippets/json.ts';
import { searchSnippets } from '../../projects/snippets/queries.ts';
import type { Filters as RequestFilters } from '../../review/merge_requests/lists/merge_request_filters.ts';
import { mergeRequestTexts } from '../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../review/merge_requests/lists/list.ts';
import { mergeRequestShape } from '../../review/merge_requests/json.ts';
import { projectsIn, toScope } from './search_place.ts';
import { type SearchRequest, type SearchScope, nothing } from './search_scope.ts';

const anywhere = ['everywhere', 'groups', 'projects'] as const;

export const projects: SearchScope = {
  places: ['everywhere', 'groups'],
  shape: projectShape,
  run: async ({ call, place, filter, page }) =>
    await listProjects(
      call,
      { search: filter.search, order_by: 'created_at', sort: filter.sort, ...page },
      allOf([sql<boolean>`1 = 1`, ...projectsIn(place, filter)]),
    ),
};

/** Filters that lists of issues and of merge requests share. */
const toListFilters = ({ place, filter }: SearchRequest) => ({
  scope: 'all' as const,
  search: filter.search,
  order_by: 'created_at' as const,
  sort: filter.sort,
  ...(place.kind !== 'projects' && !filter.include_archived && { non_archived: true }),
});

export const issues: SearchScope = {
  places: anywhere,
  shape: issueShape,
  run: async (request) => {
    const { call, place, page, filter } = request;
    const { state, confidential } = filter;
    if (state === 'merged' || state === 'locked') return nothing;
    const filters: IssueFilters = {
      ...toListFilters(request),
      state,
      ...(confidential !== undefined && { confidential }),
    };
    return await listIssues({ call, scope: toScope(place), filters, page, texts: issueTexts });
  },
};

export const mergeRequests: SearchScope = {
  places: anywhere,
  shape: mergeRequestShape,
  run: async (request) => {
    const { call, place, page, filter } = request;
    const filters: RequestFilters = { ...toListFilters(request), state: filter.state };
    return await listMergeRequests({
      call,
      scope: toScope(place),
      filters,
      page,
      texts: mergeRequestTexts,
    });
  },
};

/** Over `milestones`: milestones that the caller sees in the search scope. */
const milestonesIn = ({ call, place, filter }: SearchRequest) => {
  const { viewer, platform } = call;
  const { dialect } = platform.store;
  if (place.kind === 'projects') {
    return allOf([
      sql<boolean>`milestones.project_id = ${place.project.id}`,
      visibleMilestones(viewer, dialect),
    ]);
  }
  const visible = visibleMilestones(viewer, dialect, projectsIn(place, filter));
  if (place.kind === 'everywhere') return visible;
  const ofGroups = sql<boolean>`milestones.group_id in ${selectDescendants(place.group.id)}`;
  return allOf([visible, anyOf([sql<boolean>`milestones.project_id is not null`, ofGroups])]);
};

export const milestones: SearchScope = {
  places: anywhere,
  shape: milestoneShape,
  run: async (request) => {
    const { call, filter, page } = request;
    const order = filter.sort === 'asc' ? ('oldest' as const) : ('newest' as const);
    const selection = { search: filter.search, state: 'all' as const, order };
    const { items, total } = await selectMilestones(call.db, milestonesIn(request), selection, page);
    return { items: items.map((row) => milestoneJson(row, call)), total };
  },
};

export const snippetTitles: SearchScope = {
  places: ['everywhere'],
  shape: snippetShape,
  run: async ({ call, filter, page }) => {
    const { items, total } = await searchSnippets(call, filter, page);
    return { items: await renderSnippets(call, items, ({ full_path }) => full_path), total };
  },
};

/** Members of the group or project, also through groups above. */
const searchMembers = async ({ call, place, filter, page }: SearchRequest): Promise<Page<unknown>> => {
  if (place.kind === 'everywhere') return nothing;
  const mayRead =
    place.kind === 'projects'
      ? may(call.viewer, 'read_member', place.project)
      : mayInGroup(call.viewer, 'read_group_member', place.group);
  if (!mayRead) return nothing;
  const [kind, { id }] =
    place.kind === 'projects' ? [projectSource, place.project] : [groupSource, place.group];
  const members = { query: filter.search, inherited: true, now: call.now };
  const { rows, total } = await listMembers(call.db, await kind.find(call, id), members, page);
  return { items: rows.map((user) => basicUser(user, call)), total };
};

export const users: SearchScope = {
  places: anywhere,
  shape: basicUserShape,
  run: async (request) => {
    const { call, place, filter, page } = request;
    if (!call.signedIn) return nothing;
    if (place.kind !== 'everywhere') return await searchMembers(request);
    const selection = { search: filter.search, order_by: 'id', sort: filter.sort } as const;
    const { rows, total } = await selectUsers(call.db, selection, { ...page, admin: call.admin });
    return { items: rows.map((user) => basicUser(user, call)), total };
  },
};

/** Comments on issues and merge requests, then comments on commits. */
export const notes: SearchScope = {
  places: ['projects'],
  shape: commitNoteShape,
  run: async ({ call, place, filter, page }) => {
    if (place.kind !== 'projects') return nothing;
    const { items, total } = await searchNotes(call, place.project, filter, page);
    const iids = new Map(items.map(({ id, target_iid }: FoundNote) => [id, target_iid]));
    const onRecords = await mixedNotesJson(call, ({ id }) => iids.get(id) ?? 0, items);
    if (!may(call.viewer, 'read_code', place.project)) return { items: onRecords, total };
    const slice = { limit: page.limit - items.length, offset: Math.max(page.offset - total, 0) };
    const onCommits = await searchComments(call, place.project, filter, slice);
    return {
      items: [...onRecords, ...(await commentsJson(call, onCommits.items))],
      total: total + onCommits.total,
    };
  },
};
