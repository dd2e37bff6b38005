/** The issues of a group and of all groups below it. */
import { object } from '../../../../platform/http/schema.ts';
import { type Visit, page } from '../../page.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { chooseProjectPage, groupParam, openGroupList } from './list_scope.ts';
import { issueCsv } from '../issues/list/issue_csv.ts';
import { issueCalendar, issueFeed } from '../issues/list/issue_feeds.ts';
import { issueList } from '../issues/list/list_view.ts';
import { issueListParams } from '../issues/list/read_query.ts';
import type { IssueListScope } from '../issuables/list/list_scope.ts';

const openPlace = async (visit: Visit, path: string): Promise<IssueListScope> => {
  const { feedPath, ...list } = await openGroupList(visit, path, 'issues');
  return {
    ...list,
    formats: { csv: `${list.path}/export`, atom: feedPath('atom'), calendar: feedPath('ics') },
  };
};

const params = object({ ...groupParam, ...issueListParams });

export const pages = [
  chooseProjectPage('issues'),
  page({
    method: 'GET',
    path: `${groupRoot}/issues`,
    audience: 'user',
    params,
    handle: async (visit, { group, ...query }) =>
      await issueList(visit, await openPlace(visit, group), query),
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/issues/export`,
    audience: 'user',
    params,
    handle: async (visit, { group, ...query }) => await issueCsv(visit, await openPlace(visit, group), query),
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/issues.atom`,
    audience: 'user',
    isFeed: true,
    params,
    handle: async (visit, { group, ...query }) => {
      const place = await openPlace(visit, group);
      const self = place.formats.atom ?? '';
      return await issueFeed(visit, place, query, { title: `${group} issues`, self });
    },
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/issues.ics`,
    audience: 'user',
    isFeed: true,
    params,
    handle: async (visit, { group, ...query }) =>
      await issueCalendar(visit, await openPlace(visit, group), query, `${group} due dates`),
  }),
];
