import { keptTexts } from '../issuables/texts.ts';
import {
  mergeRequestJson,
  mergeRequestShape,
  simpleMergeRequestJson,
  simpleMergeRequestShape,
} from './json.ts';
import { scheduleChecks } from './merge_status.ts';
import { type FullMergeRequest, mergeRequestsById } from './rows.ts';

const waiting = (records: FullMergeRequest[]): number[] =>
  records
    .filter(({ state, merge_status }) => state === 'opened' && merge_status === 'unchecked')
    .map(({ id }) => id);

export type { Version } from '../issuables/texts.ts';

/** The merge requests' JSON as lists show them. */
export const mergeRequestTexts = keptTexts({
  shape: mergeRequestShape,
  read: mergeRequestsById,
  json: mergeRequestJson,
  // A list shows what is stored: for the next one that asks.
  made: (platform, records) => scheduleChecks(platform, waiting(records)),
});

/** The same, with `view=simple`. */
export const simpleTexts = keptTexts({
  shape: simpleMergeRequestShape,
  read: mergeRequestsById,
  json: simpleMergeRequestJson,
});
