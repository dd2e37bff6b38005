/** A list of issues as CSV, for spreadsheets. */
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssueVersionsOnce } from '../../../../../planning/issues/lists/list.ts';
import type { RawPage, Visit } from '../../../page.ts';
import { type Batch, type Columns, type Start, csvFile } from '../../issuables/list/csv_file.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { IssueListScope } from '../../issuables/list/list_scope.ts';
import { type IssueListQuery, readQuery } from './read_query.ts';
import { type ListedIssue, parseIssue } from './issue_row.ts';

const columns: Columns<ListedIssue> = {
  Number: ({ iid }) => iid,
  Title: ({ title }) => title,
  State: ({ state }) => state,
  Author: ({ author }) => author.username,
  Assignees: ({ assignees }) => assignees.map(({ username }) => username).join(', '),
  Labels: ({ labels }) => labels.join(', '),
  Milestone: ({ milestone }) => milestone?.title ?? '',
  'Due date': ({ due_date }) => due_date ?? '',
  Confidential: ({ confidential }) => (confidential ? 'yes' : 'no'),
  Comments: ({ user_notes_count }) => user_notes_count,
  Created: ({ created_at }) => created_at,
  Updated: ({ updated_at }) => updated_at,
  Closed: ({ closed_at }) => closed_at ?? '',
  URL: ({ web_url }) => web_url,
};

/** Returns the filtered issues as a CSV file. @throws Failure 400 for invalid filters */
export const issueCsv = async (
  visit: Visit,
  list: IssueListScope,
  query: IssueListQuery,
): Promise<RawPage> => {
  const filters = { ...readQuery(visit, query, list).filters, order_by: 'created_at', sort: 'asc' } as const;
  const { call } = visit;
  const { scope } = await narrowToProject(visit, list, query.project_path);
  const read = async ({ page, ...start }: Start): Promise<Batch<ListedIssue>> => {
    const versions = await listIssueVersionsOnce({ call, scope, filters: { ...filters, ...start }, page });
    const records = (await issueTexts(call, versions)).map(parseIssue);
    return { records, isLast: versions.length < page.limit };
  };
  return await csvFile({ name: 'issues.csv', columns, read });
};
