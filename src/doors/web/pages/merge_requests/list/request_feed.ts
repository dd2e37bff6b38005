/** A list of merge requests as an Atom feed. */
import { pageRequest } from '../../../../../platform/http/page.ts';
import { mergeRequestTexts } from '../../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../../review/merge_requests/lists/list.ts';
import type { RawPage, Visit } from '../../../page.ts';
import { listFeed } from '../../issuables/list/list_feed.ts';
import { narrowToProject } from '../../issuables/list/narrow_to_project.ts';
import type { RequestListScope } from '../../issuables/list/list_scope.ts';
import { type RequestListQuery, readQuery } from './read_query.ts';
import { parseRequest, pathOf } from './request_row.ts';

/** Returns the newest merge requests of a list as a feed. @param self path of the feed */
export const requestFeed = async (
  visit: Visit,
  list: RequestListScope,
  query: RequestListQuery,
  { title, self }: { title: string; self: string },
): Promise<RawPage> => {
  const { scope } = await narrowToProject(visit, list, query.project_path);
  const { items } = await listMergeRequests({
    call: visit.call,
    scope,
    filters: readQuery(visit, query, list).filters,
    page: pageRequest({}),
    texts: mergeRequestTexts,
  });
  return listFeed(visit, list, { title, self, records: items.map(parseRequest), sign: '!', pathOf });
};
