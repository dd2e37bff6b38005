import { cachedTexts } from '../../../planning/issuables/lists/json_cache.ts';
import { withLabelDetails } from '../../../planning/issuables/lists/linked_labels.ts';
import {
  mergeRequestJson,
  mergeRequestShape,
  simpleMergeRequestJson,
  simpleMergeRequestShape,
} from '../json.ts';
import { scheduleChecks } from '../merging/merge_status.ts';
import { type FullMergeRequest, mergeRequestsById } from '../rows.ts';

const waiting = (records: FullMergeRequest[]): number[] =>
  records
    .filter(({ state, merge_status }) => state === 'opened' && merge_status === 'unchecked')
    .map(({ id }) => id);

export type { Version } from '../../../planning/issuables/lists/json_cache.ts';

/** Returns the cached JSON of merge requests as lists show it. */
export const mergeRequestTexts = cachedTexts({
  shape: mergeRequestShape,
  read: mergeRequestsById,
  json: mergeRequestJson,
  // A list shows stored statuses; the check updates them for later reads.
  onBuilt: (platform, records) => scheduleChecks(platform, waiting(records)),
});

/** Returns the cached JSON of merge requests for `view=simple`. */
export const simpleTexts = cachedTexts({
  shape: simpleMergeRequestShape,
  read: mergeRequestsById,
  json: simpleMergeRequestJson,
});

/** Returns the JSON of merge requests as lists show it with `with_labels_details`. */
export const detailedTexts = withLabelDetails('MergeRequest', mergeRequestTexts);
