/** A list of issues as an Atom feed, and its due dates as a calendar. */
import { issueTexts } from '../../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../../planning/issues/lists/list.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import type { RawPage, Visit } from '../../../page.ts';
import { type CalendarEvent, calendar } from '../../../parts/feeds/calendar.ts';
import { listFeed, summaryOf } from '../../issuables/list/list_feed.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { IssueListScope } from '../../issuables/list/list_scope.ts';
import { type ListedIssue, listedIssuePath, parseIssue } from './issue_row.ts';
import { type IssueListQuery, readQuery } from './read_query.ts';

/** Issues of one read of a calendar, and the reads. */
const perRead = 100;
const maxReads = 10;

/** Returns the newest issues of a list as a feed. @param self path of the feed */
export const issueFeed = async (
  visit: Visit,
  list: IssueListScope,
  query: IssueListQuery,
  { title, self }: { title: string; self: string },
): Promise<RawPage> => {
  const { call } = visit;
  const { filters } = readQuery(visit, query, list);
  const page = pageRequest({});
  const { scope } = await narrowToProject(visit, list, query.project_path);
  const { items } = await listIssues({ call, scope, filters, page, texts: issueTexts });
  return listFeed(visit, list, {
    title,
    self,
    records: items.map(parseIssue),
    sign: '#',
    pathOf: listedIssuePath,
  });
};

const toEvent = (baseUrl: string, issue: ListedIssue): CalendarEvent[] =>
  issue.due_date === null
    ? []
    : [
        {
          uid: `issue-${issue.id}@${URL.parse(baseUrl)?.host ?? 'gantry'}`,
          title: `${issue.title} (${issue.references.full})`,
          day: issue.due_date,
          url: issue.web_url,
          description: summaryOf(issue),
          updated: Date.parse(issue.updated_at),
        },
      ];

/** Says that a calendar lacks issues; empty if it has all. */
const describeRest = (shown: number, total: number): string =>
  total > shown
    ? `Has the first ${shown.toLocaleString('en')} of ${spellCount(total, 'issue')} with a due date.`
    : '';

/** Returns the due dates of a list's issues, at most 1,000, as a calendar. */
export const issueCalendar = async (
  visit: Visit,
  list: IssueListScope,
  query: IssueListQuery,
  title: string,
): Promise<RawPage> => {
  const { call } = visit;
  const { scope } = await narrowToProject(visit, list, query.project_path);
  const { filters: chosen } = readQuery(visit, query, list);
  const filters = { ...chosen, due_date: chosen.due_date ?? ('any' as const) };
  const events: CalendarEvent[] = [];
  let all = 0;
  for (let number = 1; number <= maxReads; number += 1) {
    const page = pageRequest({ page: number, per_page: perRead });
    const { items, total } = await listIssues({ call, scope, filters, page, texts: issueTexts });
    all = total;
    events.push(...items.flatMap((item) => toEvent(call.baseUrl, parseIssue(item))));
    if (items.length < perRead) break;
  }
  return calendar(title, events, describeRest(events.length, all));
};
