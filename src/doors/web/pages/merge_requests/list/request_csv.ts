/** A list of merge requests as CSV, for spreadsheets. */
import { mergeRequestTexts } from '../../../../../review/merge_requests/lists/json_cache.ts';
import { listRequestVersionsOnce } from '../../../../../review/merge_requests/lists/list.ts';
import type { RawPage, Visit } from '../../../page.ts';
import { type Batch, type Columns, type Start, csvFile } from '../../issuables/list/csv_file.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { RequestListScope } from '../../issuables/list/list_scope.ts';
import { type RequestListQuery, readQuery } from './read_query.ts';
import { type ListedRequest, parseRequest } from './request_row.ts';

const names = (users: readonly { username: string }[]): string =>
  users.map(({ username }) => username).join(', ');

const columns: Columns<ListedRequest> = {
  Number: ({ iid }) => iid,
  Title: ({ title }) => title,
  State: ({ state }) => state,
  Draft: ({ draft }) => (draft ? 'yes' : 'no'),
  Author: ({ author }) => author.username,
  Assignees: ({ assignees }) => names(assignees),
  Reviewers: ({ reviewers }) => names(reviewers),
  'Source branch': ({ source_branch }) => source_branch,
  'Target branch': ({ target_branch }) => target_branch,
  Labels: ({ labels }) => labels.join(', '),
  Milestone: ({ milestone }) => milestone?.title ?? '',
  Comments: ({ user_notes_count }) => user_notes_count,
  Created: ({ created_at }) => created_at,
  Updated: ({ updated_at }) => updated_at,
  Merged: ({ merged_at }) => merged_at ?? '',
  Closed: ({ closed_at }) => closed_at ?? '',
  URL: ({ web_url }) => web_url,
};

/** Returns the merge requests of a list as a file. @throws Failure 400 for filters that make no sense */
export const requestCsv = async (
  visit: Visit,
  list: RequestListScope,
  query: RequestListQuery,
): Promise<RawPage> => {
  const { call } = visit;
  const { scope } = await narrowToProject(visit, list, query.project_path);
  const filters = { ...readQuery(visit, query, list).filters, order_by: 'created_at', sort: 'asc' } as const;
  const read = async ({ page, ...start }: Start): Promise<Batch<ListedRequest>> => {
    const versions = await listRequestVersionsOnce({ call, scope, filters: { ...filters, ...start }, page });
    const records = (await mergeRequestTexts(call, versions)).map(parseRequest);
    return { records, isLast: versions.length < page.limit };
  };
  return await csvFile({ name: 'merge_requests.csv', columns, read });
};
