/**
 * A search of one scope, such as issues or code. Each scope calls the list of its records, so no rule is duplicated
 * here.
 */
import type { TSchema } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { Place, PlaceKind } from './search_place.ts';

export const searchStates = ['all', 'opened', 'closed', 'merged', 'locked'] as const;

export type SearchFilter = {
  search: string;
  /** For issues and merge requests. */
  state: (typeof searchStates)[number];
  /** For issues. */
  confidential?: boolean | undefined;
  /** Sorts by creation. */
  sort: 'asc' | 'desc';
  /** Branch, tag or commit, of code and commits; default: the default branch. */
  ref?: string | undefined;
  /** True if a search of several projects includes archived projects. */
  include_archived: boolean;
};

export type SearchRequest = { call: Call; place: Place; filter: SearchFilter; page: PageRequest };

export type SearchScope = {
  /** Where the scope can be searched. */
  places: readonly PlaceKind[];
  /** One item of an answer. */
  shape: TSchema;
  /** Returns a page of what the caller sees, with the exact total. */
  run: (request: SearchRequest) => Promise<Page<unknown>>;
};

export const nothing: Page<never> = { items: [], total: 0 };
