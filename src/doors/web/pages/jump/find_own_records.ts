/** Finds the user's own issues and merge requests of all projects for the command palette, where no project is named. */
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../planning/issues/lists/list.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import type { Visit } from '../../page.ts';
import { parseRequest } from '../merge_requests/list/request_row.ts';
import { parseIssue } from '../issues/list/issue_row.ts';
import { type Match, type MatchGroup, firstPage, maxMatches, newest, toSelection } from './find_records.ts';

type Listed = {
  id: number;
  iid: number;
  title: string;
  state: string;
  updated_at: string;
  references: { full: string };
};

/** Merges the lists of several roles, most recently changed first. */
const mergeLists = (lists: readonly Listed[][]): Listed[] => {
  const records = new Map(lists.flat().map((record) => [record.id, record]));
  return [...records.values()]
    .toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))
    .slice(0, maxMatches);
};

const toMatch = (
  { iid, title, state, references: { full } }: Listed,
  sign: '#' | '!',
): Omit<Match, 'icon'> => ({
  path: `/${full.slice(0, full.lastIndexOf(sign))}/${sign === '#' ? 'issues' : 'merge_requests'}/${iid}`,
  text: `${sign}${iid} ${title}`,
  hint: state === 'opened' ? full : `${full} · ${state}`,
});

/** Finds issues that are assigned to the user or created by them, by number or words. */
export const findOwnIssues = async ({ call }: Visit, search: string): Promise<MatchGroup> => {
  const title = 'Your issues';
  if (!call.signedIn) return { title, matches: [] };
  const list = async (scope: 'assigned-to-me' | 'created-by-me'): Promise<Listed[]> => {
    const filters = { ...newest, state: 'all', ...toSelection(search), scope } as const;
    const page = firstPage(maxMatches);
    const { items } = await listIssues({ call, scope: 'everywhere', filters, page, texts: issueTexts });
    return items.map(parseIssue);
  };
  const issues = mergeLists(await Promise.all([list('assigned-to-me'), list('created-by-me')]));
  return { title, matches: issues.map((issue) => ({ ...toMatch(issue, '#'), icon: 'issue' as const })) };
};

/** Like `findOwnIssues`, for merge requests, including requests that the user reviews. */
export const findOwnMergeRequests = async ({ call }: Visit, search: string): Promise<MatchGroup> => {
  const title = 'Your merge requests';
  if (!call.signedIn) return { title, matches: [] };
  const list = async (scope: 'assigned-to-me' | 'created-by-me' | 'reviews-for-me'): Promise<Listed[]> => {
    const filters = { ...newest, state: 'all', ...toSelection(search), scope } as const;
    const query = { call, scope: 'everywhere' as const, filters, texts: mergeRequestTexts };
    const { items } = await listMergeRequests({ ...query, page: firstPage(maxMatches) });
    return items.map(parseRequest);
  };
  const roles = ['assigned-to-me', 'created-by-me', 'reviews-for-me'] as const;
  const requests = mergeLists(await Promise.all(roles.map(list)));
  return {
    title,
    matches: requests.map((request) => ({ ...toMatch(request, '!'), icon: 'merge-request' as const })),
  };
};
