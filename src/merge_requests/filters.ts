/** What the lists of merge requests select by, beside what all lists do. */
import { type RawBuilder, sql } from 'kysely';
import { anyOf } from '../access/visible.ts';
import { boolean, idOrWord, oneOf, optional, text } from '../http/schema.ts';
import {
  type Filters as SharedFilters,
  nobody,
  scopeAliases,
  scopes,
  sharedFilterParams,
} from '../issuables/filters.ts';
import { notParamWithReviewers } from '../issuables/filters_not.ts';
import type { Measured } from '../issuables/named.ts';

type Condition = RawBuilder<boolean>;

export const scopeParam = (options: { default?: 'created-by-me' } = {}) =>
  oneOf([...scopes, 'reviews-for-me'], {
    ...options,
    aliases: { ...scopeAliases, reviews_for_me: 'reviews-for-me' },
  });

export const filterParams = {
  state: oneOf(['opened', 'closed', 'merged', 'locked', 'all'], {
    default: 'all',
    description: 'all by default',
  }),
  ...sharedFilterParams,
  not: optional(notParamWithReviewers),
  reviewer_id: optional(idOrWord(nobody, 'with this reviewer; 0 or None, Any')),
  reviewer_username: optional(text()),
  source_branch: optional(text({ description: 'from this branch' })),
  target_branch: optional(text({ description: 'into this branch' })),
  wip: optional(oneOf(['yes', 'no'], { description: 'whether it is work in progress' })),
  draft: optional(boolean({ description: 'as `wip`' })),
  view: optional(oneOf(['simple', 'full'], { description: 'simple: a reduced record' })),
};

export type Filters = SharedFilters & {
  state: 'opened' | 'closed' | 'merged' | 'locked' | 'all';
  source_branch?: string;
  target_branch?: string;
  wip?: 'yes' | 'no';
  draft?: boolean;
};

/** What `\s` of a pattern stands for. */
const blanks =
  ' \t\n\v\f\r\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF';

/** The same rule as `isWorkInProgress` of `issuables/title_state.ts`; stored titles begin with no blank. */
const inProgress: Condition = anyOf([
  ...['[wip]', 'wip:', '[draft]', '(draft)', 'draft:'].map(
    (prefix) =>
      sql<boolean>`lower(substr(merge_requests.title, 1, ${sql.lit(prefix.length)})) = ${sql.lit(prefix)}`,
  ),
  sql<boolean>`(lower(substr(merge_requests.title, 1, 3)) = 'wip'
    and substr(merge_requests.title, 4, 1) in (${sql.join(Array.from(blanks))}))`,
]);

const isDraft = ({ wip, draft }: Filters): boolean | undefined => (wip === undefined ? draft : wip === 'yes');

const named = (value: string | undefined): value is string => value !== undefined && value !== '';

const branchConditions = ({ source_branch, target_branch }: Filters) => ({
  source: named(source_branch) ? sql<boolean>`merge_requests.source_branch = ${source_branch}` : null,
  target: named(target_branch) ? sql<boolean>`merge_requests.target_branch = ${target_branch}` : null,
});

export const ownConditions = (filters: Filters): Condition[] => {
  const { source, target } = branchConditions(filters);
  const draft = isDraft(filters);
  return [
    ...(source === null ? [] : [source]),
    ...(target === null ? [] : [target]),
    ...(draft === undefined ? [] : [draft ? inProgress : sql<boolean>`not ${inProgress}`]),
  ];
};

/** Many go into one branch, and few come from one: what is rare leads. */
export const measuredConditions = (filters: Filters, isInProject: boolean): Measured[] => {
  const { source, target } = branchConditions(filters);
  const index = isInProject ? 'merge_requests_project_source' : 'merge_requests_source_branch';
  return [
    ...(source === null ? [] : [{ name: 'source', condition: source, index }]),
    ...(target === null || !isInProject
      ? []
      : [{ name: 'target', condition: target, index: 'merge_requests_project_target' }]),
  ];
};
