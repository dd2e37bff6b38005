/** The parameters that filter lists of issues and of merge requests. */
import { invalid } from '../../../platform/errors.ts';
import {
  boolean,
  idOrWord,
  integers,
  names,
  oneOf,
  optional,
  text,
  time,
} from '../../../platform/http/schema.ts';
import { type SearchField, searchFields } from '../search/search.ts';
import { orParam } from './hash_filters/alternative_filters.ts';
import { notParam } from './hash_filters/excluded_filters.ts';
import type { MilestoneWord } from './milestone_wildcards.ts';
import { type OrderName, requestOrderNames } from './record_kinds.ts';

export const scopes = ['created-by-me', 'assigned-to-me', 'all'] as const;
export const scopeAliases = { created_by_me: 'created-by-me', assigned_to_me: 'assigned-to-me' } as const;
export const presenceWords = ['None', 'Any'] as const;

export const sharedFilterParams = {
  labels: optional(names({ description: 'records with all of these labels; or None or Any' })),
  milestone: optional(text({ description: 'title, or None, Any, #upcoming, #started' })),
  author_id: optional(idOrWord([], 'author')),
  author_username: optional(text()),
  assignee_id: optional(idOrWord(presenceWords, 'assignee; 0 or None, Any')),
  assignee_username: optional(names()),
  my_reaction_emoji: optional(text({ description: "emoji of the caller's reaction; or None, Any" })),
  iids: optional(integers()),
  search: optional(text({ description: 'words in the title or the description' })),
  in: optional(names({ description: 'fields to search: title, description; default: both' })),
  created_after: optional(time('inclusive')),
  created_before: optional(time('inclusive')),
  updated_after: optional(time('inclusive')),
  updated_before: optional(time('inclusive')),
  closed_after: optional(time('inclusive; closed records only')),
  closed_before: optional(time('inclusive; closed records only')),
  non_archived: optional(boolean({ description: 'only records of projects that are not archived' })),
  not: optional(notParam),
  or: optional(orParam),
  order_by: oneOf(requestOrderNames, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
};

export const scopeParam = (options: { default?: 'created-by-me' } = {}) =>
  oneOf(scopes, { ...options, aliases: scopeAliases });

/** Labels, users and milestones by their ids. */
export type RecordIds = {
  label_ids: readonly number[];
  assignee_ids: readonly number[];
  milestone_ids: readonly number[];
};

export type Filters = {
  scope: (typeof scopes)[number] | 'reviews-for-me';
  state: string;
  labels?: string[];
  milestone?: string;
  author_id?: number;
  author_username?: string;
  assignee_id?: number | 'None' | 'Any';
  assignee_username?: string[];
  reviewer_id?: number | 'None' | 'Any';
  reviewer_username?: string;
  my_reaction_emoji?: string;
  iids?: number[];
  search?: string;
  in?: string[];
  created_after?: number;
  created_before?: number;
  updated_after?: number;
  updated_before?: number;
  closed_after?: number;
  closed_before?: number;
  non_archived?: boolean;
  /** As sent. */
  not?: unknown;
  /** As sent. */
  or?: unknown;
  /** The id of the milestone that the list belongs to, or a word of the parameter. */
  milestone_id?: number | MilestoneWord;
  /** Set by boards, not by the API: records have all of `having`, and none of `without`. */
  having?: RecordIds;
  without?: RecordIds;
  order_by: OrderName;
  sort: 'asc' | 'desc';
};

/**
 * Returns the fields that `search` covers.
 * @throws Failure 400 if `in` names another field
 */
export const searchedFields = ({ in: chosen = [] }: Filters): readonly SearchField[] => {
  if (chosen.length === 0) return searchFields;
  const isField = (name: string): name is SearchField => searchFields.some((field) => field === name);
  const fields = chosen.filter(isField);
  if (fields.length < chosen.length) throw invalid({ in: ['does not have a valid value'] });
  return [...new Set(fields)];
};
