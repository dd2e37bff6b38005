/** Counts merge requests by state, for the tabs of a list. */
import type { Call } from '../../../core/access/call.ts';
import type { TextLoader } from '../../../planning/issuables/lists/json_cache.ts';
import type { Scope } from '../../../planning/issuables/lists/list_kind.ts';
import type { Filters } from './merge_request_filters.ts';
import { listMergeRequests } from './list.ts';

const noTexts: TextLoader = async () => await Promise.resolve([]);
const page = { page: 1, per_page: 1, limit: 1, offset: 0 };

/** Counts the merge requests of a list in one state, with the filters of the list. */
export const countMergeRequests = async (call: Call, scope: Scope, filters: Filters): Promise<number> =>
  (await listMergeRequests({ call, scope, filters, page, texts: noTexts })).total;
