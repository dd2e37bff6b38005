/** Finds records for the command palette: projects, groups, issues, merge requests, files, users. */
import { openCode } from '../../../../code/repository/find_code.ts';
import { listPaths, searchPaths } from '../../../../code/repository/files/list_paths.ts';
import { branchPrefix, findRef } from '../../../../code/repository/refs/resolve.ts';
import { may } from '../../../../core/access/may.ts';
import { suggestGroups } from '../../../../identity/groups/list.ts';
import { selectUsers } from '../../../../identity/users/list.ts';
import type { Filters as IssueFilters } from '../../../../planning/issues/lists/filters.ts';
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../planning/issues/lists/list.ts';
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import type { Filters as RequestFilters } from '../../../../review/merge_requests/lists/merge_request_filters.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import type { Visit } from '../../page.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import type { IconName } from '../../parts/icon.ts';
import type { ListedProject } from '../../parts/projects/project_list.ts';
import { parseRequest } from '../merge_requests/list/request_row.ts';
import { parseIssue } from '../issues/list/issue_row.ts';

type Shown = { text: string; icon: IconName; hint?: string };

export type Match = Shown & { path: string };

/** A match that sends a form. @property action its address */
export type ActionMatch = Shown & { action: string; fields: Readonly<Record<string, string>> };

export type MatchGroup<M = Match> = { title: string; matches: M[] };

export const maxMatches = 8;
const maxUsers = 4;
const maxGroups = 4;

export const firstPage = (per_page: number): PageRequest => pageRequest({ per_page });

/** Finds projects by a part of their name; without a name, the user's most recently changed projects. */
export const findProjects = async ({ call }: Visit, search: string): Promise<MatchGroup> => {
  const order = { order_by: 'last_activity_at', sort: 'desc' } as const;
  const selection = search === '' ? { membership: true } : { search };
  const { items } = await listProjects(call, {
    ...selection,
    ...order,
    simple: true,
    ...firstPage(maxMatches),
  });
  const matches = (items as ListedProject[]).map(({ path_with_namespace, description }) => ({
    path: `/${path_with_namespace}`,
    text: path_with_namespace,
    icon: 'folder' as const,
    hint: description?.slice(0, 60) ?? '',
  }));
  return { title: search === '' ? 'Your projects' : 'Projects', matches };
};

/** Finds groups by a part of their name or path. */
export const findGroups = async ({ call }: Visit, search: string): Promise<MatchGroup> => {
  const groups = search === '' ? [] : await suggestGroups(call, search, maxGroups);
  const matches = groups.map(({ name, full_path }) => ({
    path: `/groups/${full_path}`,
    text: full_path,
    icon: 'group' as const,
    hint: name,
  }));
  return { title: 'Groups', matches };
};

/** The text after `#` or `!`: a number, or words of the title. */
export const toSelection = (search: string): { iids: number[] } | { search: string } | null => {
  if (/^\d{1,9}$/.test(search)) return { iids: [Number(search)] };
  return search.trim() === '' ? null : { search: search.trim() };
};

export const newest = { scope: 'all', order_by: 'updated_at', sort: 'desc' } as const;

/** A selection of issues or merge requests of a project. @property in fields that `search` looks in; default: all */
type Selection = { iids?: number[]; search?: string; in?: string[] };

/** A listed record, for a suggestion. */
type Numbered = { iid: number; title: string; state: string };

/** Lists issues of a project that the viewer sees, most recently changed first. */
export const selectIssues = async (
  visit: Visit,
  project: Project,
  selection: Selection | null,
  limit = maxMatches,
): Promise<Numbered[]> => {
  const { call } = visit;
  if (!may(call.viewer, 'read_issue', project)) return [];
  const filters: IssueFilters = { ...newest, state: 'all', ...selection };
  const page = firstPage(limit);
  const query = { call, scope: { project }, filters, page, texts: issueTexts };
  const { items } = await withAnonymousSlot(visit, async () => await listIssues(query));
  return items.map(parseIssue);
};

/** Like `selectIssues`, for merge requests. */
export const selectMergeRequests = async (
  visit: Visit,
  project: Project,
  selection: Selection | null,
  limit = maxMatches,
): Promise<Numbered[]> => {
  const { call } = visit;
  if (!may(call.viewer, 'read_merge_request', project)) return [];
  const filters: RequestFilters = { ...newest, state: 'all', ...selection };
  const query = { call, scope: { project }, filters, page: firstPage(limit), texts: mergeRequestTexts };
  const { items } = await withAnonymousSlot(visit, async () => await listMergeRequests(query));
  return items.map(parseRequest);
};

/** Finds issues of the project by number or words; without either, the most recently changed issues. */
export const findIssues = async (visit: Visit, project: Project, search: string): Promise<MatchGroup> => {
  const issues = await selectIssues(visit, project, toSelection(search));
  const matches = issues.map(({ iid, title, state }) => ({
    path: `/${project.full_path}/issues/${iid}`,
    text: `#${iid} ${title}`,
    icon: 'issue' as const,
    hint: state === 'opened' ? '' : state,
  }));
  return { title: `Issues of ${project.full_path}`, matches };
};

/** Like `findIssues`, for merge requests. */
export const findMergeRequests = async (
  visit: Visit,
  project: Project,
  search: string,
): Promise<MatchGroup> => {
  const requests = await selectMergeRequests(visit, project, toSelection(search));
  const matches = requests.map(({ iid, title, state }) => ({
    path: `/${project.full_path}/merge_requests/${iid}`,
    text: `!${iid} ${title}`,
    icon: 'merge-request' as const,
    hint: state === 'opened' ? '' : state,
  }));
  return { title: `Merge requests of ${project.full_path}`, matches };
};

/** Finds files of the default branch by words of their path. */
export const findFiles = async (visit: Visit, project: Project, search: string): Promise<MatchGroup> => {
  const { call } = visit;
  const title = `Files of ${project.full_path}`;
  const { default_branch: branch } = project;
  const hasFilePage = call.platform.hasPage('GET /-/projects/:project/blob/:rest');
  if (!hasFilePage || branch === null || !may(call.viewer, 'read_code', project))
    return { title, matches: [] };
  const code = openCode(call, project);
  const commit = (await findRef(code.repository, branchPrefix + branch))?.commit ?? null;
  if (commit === null) return { title, matches: [] };
  const paths = await withAnonymousSlot(visit, async () =>
    searchPaths(await listPaths(code, commit), search, maxMatches),
  );
  const matches = paths.map((path) => ({
    path: codePath(project, 'blob', branch, path),
    text: path,
    icon: 'file' as const,
  }));
  return { title, matches };
};

/** Lists active users by a part of their name. As in the API, only for signed-in users. */
export const selectNamedUsers = async (
  { call }: Visit,
  search: string,
  limit = maxUsers,
): Promise<{ name: string; username: string }[]> => {
  if (!call.signedIn || search === '') return [];
  const order = { order_by: 'username', sort: 'asc' } as const;
  const page = { limit, offset: 0, admin: false };
  const { rows } = await selectUsers(call.db, { search, active: true, ...order }, page);
  return rows;
};

/** Finds users by a part of their name. */
export const findUsers = async (visit: Visit, search: string): Promise<MatchGroup> => {
  const matches = (await selectNamedUsers(visit, search)).map(({ name, username }) => ({
    path: `/${username}`,
    text: name,
    icon: 'user' as const,
    hint: `@${username}`,
  }));
  return { title: 'Users', matches };
};
