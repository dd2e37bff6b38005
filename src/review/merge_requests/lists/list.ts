/** Queries of merge request lists. */
import { sql } from 'kysely';
import { allOf, canSeeMergeRequests, visibleMergeRequests } from '../../../core/access/visible.ts';
import { makeLists } from '../../../planning/issuables/lists/list.ts';
import {
  type Filters,
  hasUnversionedFilter,
  indexedConditions,
  mergeRequestConditions,
} from './merge_request_filters.ts';
import { totalOfAll } from './totals.ts';

export const { list: listMergeRequests, listVersionsOnce: listRequestVersionsOnce } = makeLists<Filters>(
  {
    type: 'MergeRequest',
    table: 'merge_requests',
    own: mergeRequestConditions,
    isUnversioned: hasUnversionedFilter,
    indexed: indexedConditions,
    visible: visibleMergeRequests,
    visibleIn: (_viewer, { id }) =>
      allOf([sql`merge_requests.project_id = ${id}`, sql`merge_requests.deleted_at is null`]),
    isOpen: canSeeMergeRequests,
    seesAll: () => true,
    size: (project) =>
      project.opened_merge_requests + project.closed_merge_requests + project.merged_merge_requests,
    total: totalOfAll,
  },
  ({ merge_requests_version }) => merge_requests_version,
);
