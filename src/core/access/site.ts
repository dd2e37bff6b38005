import type { Call } from './call.ts';

/** What the JSON of a record depends on besides the record. */
export type Site = Pick<Call, 'baseUrl' | 'settings'>;

/** As `Site`, for JSON that depends on the current day. */
export type DatedSite = Site & Pick<Call, 'now'>;
