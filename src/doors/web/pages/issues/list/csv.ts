/** A list of issues as CSV, for spreadsheets. */
import { Readable } from 'node:stream';
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../../planning/issues/lists/list.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import { RawPage, type Visit } from '../../../page.ts';
import type { IssuePlace } from '../place.ts';
import { type IssueListQuery, readQuery } from './read_query.ts';
import { type ListedIssue, parseIssue } from './row.ts';

/** Issues of one file. */
const maxIssues = 10_000;
const perRead = 100;

const columns: Readonly<Record<string, (issue: ListedIssue) => string | number>> = {
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
  Address: ({ web_url }) => web_url,
};

/** Quotes a value. Spreadsheets run what starts as a formula, so an apostrophe makes it text. */
const cell = (value: string | number): string => {
  const text = String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

const line = (values: readonly (string | number)[]): string => `${values.map(cell).join(',')}\r\n`;

type Read = (page: number) => Promise<ListedIssue[]>;

/** Reads the list in parts, the oldest issue first, so that new ones do not move the others. */
const makeRead = ({ call }: Visit, place: IssuePlace, query: IssueListQuery): Read => {
  const filters = { ...readQuery(query, place).filters, order_by: 'created_at', sort: 'asc' } as const;
  return async (page) => {
    const request = pageRequest({ page, per_page: perRead });
    const { items } = await listIssues({
      call,
      scope: place.scope,
      filters,
      page: request,
      texts: issueTexts,
    });
    return items.map(parseIssue);
  };
};

const toLines = (issues: readonly ListedIssue[]): string =>
  issues.map((issue) => line(Object.values(columns).map((read) => read(issue)))).join('');

async function* writeLines(read: Read, first: ListedIssue[]): AsyncGenerator<string> {
  yield line(Object.keys(columns)) + toLines(first);
  let last = first;
  for (let page = 2; page <= maxIssues / perRead && last.length === perRead; page++) {
    last = await read(page);
    yield toLines(last);
  }
}

/** Returns the issues of a list, at most 10,000, as a file. @throws Failure 400 for filters that make no sense */
export const issueCsv = async (visit: Visit, place: IssuePlace, query: IssueListQuery): Promise<RawPage> => {
  const read = makeRead(visit, place, query);
  return new RawPage(Readable.from(writeLines(read, await read(1))), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="issues.csv"',
    'content-security-policy': "default-src 'none'; sandbox",
  });
};
