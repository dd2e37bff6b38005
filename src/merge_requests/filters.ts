/** What the lists of merge requests select by, beside what all lists do. */
import { type RawBuilder, sql } from 'kysely';
import { anyOf } from '../access/visible.ts';
import { invalid } from '../errors.ts';
import { boolean, idOrWord, names, oneOf, optional, text, unsupportedFilter } from '../http/schema.ts';
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
  approved_by_ids: optional(names({ description: 'approved by all these users; None, Any' })),
  approved_by_usernames: optional(names({ description: 'approved by all these users; None, Any' })),
  approved: unsupportedFilter(),
  approver_ids: unsupportedFilter(['none']),
  deployed_after: unsupportedFilter(),
  deployed_before: unsupportedFilter(),
  environment: unsupportedFilter(),
  source_branch: optional(text({ description: 'from this branch' })),
  target_branch: optional(text({ description: 'into this branch' })),
  wip: optional(oneOf(['yes', 'no'], { description: 'whether it is work in progress' })),
  draft: optional(boolean({ description: 'as `wip`' })),
  view: optional(oneOf(['simple', 'full'], { description: 'simple: a reduced record' })),
};

export type Filters = SharedFilters & {
  state: 'opened' | 'closed' | 'merged' | 'locked' | 'all';
  approved_by_ids?: string[];
  approved_by_usernames?: string[];
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

const approval = sql`select 1 from merge_request_approvals as approvals
  where approvals.merge_request_id = merge_requests.id`;

/** One condition for each user, or one for `None` or `Any`. @param isUser over `approvals` */
const approvalConditions = (users: string[], isUser: (user: string) => Condition): Condition[] => {
  const [word = ''] = users.length === 1 ? users.map((user) => user.toLowerCase()) : [];
  if (word === 'none') return [sql`not exists (${approval})`];
  if (word === 'any') return [sql`exists (${approval})`];
  return users.map((user) => sql`exists (${approval} and ${isUser(user)})`);
};

const parseUserId = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw invalid({ approved_by_ids: ['is invalid'] });
  return Number(text);
};

const approvedBy = ({ approved_by_ids = [], approved_by_usernames = [] }: Filters): Condition[] => [
  ...approvalConditions(approved_by_ids, (id) => sql`approvals.user_id = ${parseUserId(id)}`),
  ...approvalConditions(
    approved_by_usernames,
    (name) => sql`approvals.user_id in (select id from users where lower(username) = ${name.toLowerCase()})`,
  ),
];

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
    ...approvedBy(filters),
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
