/** The merge requests of a group and of all groups below it. */
import { object } from '../../../../platform/http/schema.ts';
import { type Visit, page } from '../../page.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { chooseProjectPage, groupParam, openGroupList } from './list_scope.ts';
import { requestCsv } from '../merge_requests/list/request_csv.ts';
import { requestFeed } from '../merge_requests/list/request_feed.ts';
import { requestList } from '../merge_requests/list/list_view.ts';
import { requestListParams } from '../merge_requests/list/read_query.ts';
import type { RequestListScope } from '../issuables/list/list_scope.ts';

const openPlace = async (visit: Visit, path: string): Promise<RequestListScope> => {
  const { feedPath, ...list } = await openGroupList(visit, path, 'merge_requests');
  return { ...list, formats: { csv: `${list.path}/export`, atom: feedPath('atom') } };
};

const params = object({ ...groupParam, ...requestListParams });

export const pages = [
  chooseProjectPage('merge_requests'),
  page({
    method: 'GET',
    path: `${groupRoot}/merge_requests`,
    audience: 'user',
    params,
    handle: async (visit, { group, ...query }) =>
      await requestList(visit, await openPlace(visit, group), query),
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/merge_requests/export`,
    audience: 'user',
    params,
    handle: async (visit, { group, ...query }) =>
      await requestCsv(visit, await openPlace(visit, group), query),
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/merge_requests.atom`,
    audience: 'user',
    isFeed: true,
    params,
    handle: async (visit, { group, ...query }) => {
      const place = await openPlace(visit, group);
      const self = place.formats.atom ?? '';
      return await requestFeed(visit, place, query, { title: `${group} merge requests`, self });
    },
  }),
];
