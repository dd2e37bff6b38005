import type { Call } from './call.ts';

/** Settings that the JSON of a record depends on, in addition to the record. */
export type Site = Pick<Call, 'baseUrl' | 'settings'>;

/** Like `Site`, for JSON that depends on the current day. */
export type DatedSite = Site & Pick<Call, 'now'>;
