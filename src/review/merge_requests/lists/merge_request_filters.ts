/** Filters of merge request lists, in addition to the filters shared with issues. */
import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../../core/access/viewer.ts';
import { allOf, anyOf, readableEnvironments } from '../../../core/access/visible.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import { invalid } from '../../../platform/errors.ts';
import {
  boolean,
  idOrWord,
  names,
  oneOf,
  optional,
  text,
  time,
  unsupportedFilter,
} from '../../../platform/http/schema.ts';
import {
  type Filters as SharedFilters,
  presenceWords,
  scopeAliases,
  scopes,
  sharedFilterParams,
} from '../../../planning/issuables/lists/filter_params.ts';
import { orParamWithReviewers } from '../../../planning/issuables/lists/hash_filters/alternative_filters.ts';
import { notParamWithReviewers } from '../../../planning/issuables/lists/hash_filters/excluded_filters.ts';
import type { ListRequester } from '../../../planning/issuables/lists/list_kind.ts';
import type { IndexedCondition } from '../../../planning/issuables/lists/named_filters.ts';

type Condition = RawBuilder<boolean>;

export const scopeParam = (options: { default?: 'created-by-me' } = {}) =>
  oneOf([...scopes, 'reviews-for-me'], {
    ...options,
    aliases: { ...scopeAliases, reviews_for_me: 'reviews-for-me' },
  });

export const filterParams = {
  state: oneOf(['opened', 'closed', 'merged', 'locked', 'all'], {
    default: 'all',
    description: 'default: all',
  }),
  ...sharedFilterParams,
  not: optional(notParamWithReviewers),
  or: optional(orParamWithReviewers),
  merged_after: optional(time('inclusive; merged records only')),
  merged_before: optional(time('inclusive; merged records only')),
  reviewer_id: optional(idOrWord(presenceWords, 'reviewer; 0 or None, Any')),
  reviewer_username: optional(text()),
  approved_by_ids: optional(names({ description: 'approved by all these users; or None, Any' })),
  approved_by_usernames: optional(names({ description: 'approved by all these users; or None, Any' })),
  approved: optional(oneOf(['yes', 'no'], { description: 'true: only approved merge requests' })),
  approver_ids: unsupportedFilter(['none']),
  deployed_after: optional(time('inclusive')),
  deployed_before: optional(time('inclusive')),
  environment: optional(text({ description: 'name of an environment it was deployed to' })),
  source_branch: optional(text({ description: 'source branch' })),
  target_branch: optional(text({ description: 'target branch' })),
  wip: optional(oneOf(['yes', 'no'], { description: 'true: only drafts' })),
  draft: optional(boolean({ description: 'same as `wip`, as a boolean' })),
  view: optional(oneOf(['simple', 'full'], { description: 'true: return fewer attributes' })),
};

export type Filters = SharedFilters & {
  state: 'opened' | 'closed' | 'merged' | 'locked' | 'all';
  approved_by_ids?: string[];
  approved_by_usernames?: string[];
  approved?: 'yes' | 'no';
  environment?: string;
  deployed_after?: number;
  deployed_before?: number;
  merged_after?: number;
  merged_before?: number;
  source_branch?: string;
  target_branch?: string;
  wip?: 'yes' | 'no';
  draft?: boolean;
  /** Only in pages: what waits for the viewer's review, or what a reviewer sent back to the viewer. */
  my_review?: 'waiting' | 'returned';
};

/** The characters that `\s` matches in a regular expression. */
const blanks =
  ' \t\n\v\f\r\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF';

/** The same rule as `isWorkInProgress` of `planning/issuables/text/draft_title.ts`; stored titles have no leading space. */
const inProgress: Condition = anyOf([
  ...['[wip]', 'wip:', '[draft]', '(draft)', 'draft:'].map(
    (prefix) =>
      sql<boolean>`lower(substr(merge_requests.title, 1, ${sql.lit(prefix.length)})) = ${sql.lit(prefix)}`,
  ),
  sql<boolean>`(lower(substr(merge_requests.title, 1, 3)) = 'wip'
    and substr(merge_requests.title, 4, 1) in (${sql.join(Array.from(blanks))}))`,
]);

const requestedDraft = ({ wip, draft }: Filters): boolean | undefined =>
  wip === undefined ? draft : wip === 'yes';

const isPresent = (value: string | undefined): value is string => value !== undefined && value !== '';

const approval = sql`select 1 from merge_request_approvals as approvals
  where approvals.merge_request_id = merge_requests.id`;

/** Builds one condition per user, or one for `None` or `Any`. @param isUser a condition on `approvals` */
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

const approvedByConditions = ({ approved_by_ids = [], approved_by_usernames = [] }: Filters): Condition[] => [
  ...approvalConditions(approved_by_ids, (id) => sql`approvals.user_id = ${parseUserId(id)}`),
  ...approvalConditions(
    approved_by_usernames,
    (name) => sql`approvals.user_id in (select id from users where lower(username) = ${name.toLowerCase()})`,
  ),
];

const approvedConditions = ({ approved }: Filters): Condition[] =>
  approved === undefined
    ? []
    : [approved === 'yes' ? sql`exists (${approval})` : sql`not exists (${approval})`];

/** Selects by the states of reviews. */
const reviewConditions = ({ my_review }: Filters, { user_id }: Viewer): Condition[] => {
  if (my_review === undefined) return [];
  const own = user_id ?? 0;
  const review = sql`select 1 from reviewers where reviewers.target_type = 'MergeRequest'
    and reviewers.target_id = merge_requests.id`;
  return my_review === 'waiting'
    ? [sql`exists (${review} and reviewers.user_id = ${own} and reviewers.state = 'unreviewed')`]
    : [
        sql`merge_requests.author_id = ${own}`,
        sql`exists (${review} and reviewers.state = 'requested_changes')`,
      ];
};

const hasDeploymentFilter = ({ environment, deployed_after, deployed_before }: Filters): boolean =>
  isPresent(environment) || deployed_after !== undefined || deployed_before !== undefined;

/** Returns whether filters depend on deployments or reviews, which do not change the list version of a project. */
export const hasUnversionedFilter = (filters: Filters): boolean =>
  hasDeploymentFilter(filters) || filters.my_review !== undefined;

/** Requires one deployment that matches all filters, in a project whose environments the viewer may read. */
const deploymentConditions = (filters: Filters, viewer: Viewer, dialect: SqlDialect): Condition[] => {
  if (!hasDeploymentFilter(filters)) return [];
  const { environment, deployed_after, deployed_before } = filters;
  const conditions: Condition[] = [
    sql`links.merge_request_id = merge_requests.id`,
    sql`deployments.id = links.deployment_id`,
    sql`projects.id = merge_requests.project_id`,
    readableEnvironments(viewer, dialect),
    ...(isPresent(environment)
      ? [
          sql<boolean>`deployments.environment_id in (select id from environments
            where environments.project_id = merge_requests.project_id and environments.name = ${environment})`,
        ]
      : []),
    ...(deployed_after === undefined ? [] : [sql<boolean>`deployments.finished_at >= ${deployed_after}`]),
    ...(deployed_before === undefined ? [] : [sql<boolean>`deployments.finished_at <= ${deployed_before}`]),
  ];
  return [
    sql`exists (select 1 from deployment_merge_requests as links
      cross join deployments cross join projects where ${allOf(conditions)})`,
  ];
};

const branchConditions = ({ source_branch, target_branch }: Filters) => ({
  source: isPresent(source_branch) ? sql<boolean>`merge_requests.source_branch = ${source_branch}` : null,
  target: isPresent(target_branch) ? sql<boolean>`merge_requests.target_branch = ${target_branch}` : null,
});

/** Over the expression of an index of the order of merging. Requests that are not merged have 0. */
const mergedConditions = ({ merged_after, merged_before }: Filters): Condition[] => [
  ...(merged_after === undefined
    ? []
    : [sql<boolean>`coalesce(merge_requests.merged_at, 0) >= ${merged_after}`]),
  ...(merged_before === undefined
    ? []
    : [sql<boolean>`coalesce(merge_requests.merged_at, 0) <= ${merged_before}`]),
  ...(merged_after === undefined && merged_before === undefined
    ? []
    : [sql<boolean>`merge_requests.merged_at is not null`]),
];

export const mergeRequestConditions = (filters: Filters, { viewer, dialect }: ListRequester): Condition[] => {
  const { source, target } = branchConditions(filters);
  const draft = requestedDraft(filters);
  return [
    ...(source === null ? [] : [source]),
    ...(target === null ? [] : [target]),
    ...mergedConditions(filters),
    ...approvedByConditions(filters),
    ...approvedConditions(filters),
    ...reviewConditions(filters, viewer),
    ...deploymentConditions(filters, viewer, dialect),
    ...(draft === undefined ? [] : [draft ? inProgress : sql<boolean>`not ${inProgress}`]),
  ];
};

/** Conditions with an index, the most selective first: few requests share a source branch, many a target. */
export const indexedConditions = (
  filters: Filters,
  { isInProject }: { isInProject: boolean },
): IndexedCondition[] => {
  const { source, target } = branchConditions(filters);
  const merged = mergedConditions(filters);
  const index = isInProject ? 'merge_requests_project_source' : 'merge_requests_source_branch';
  return [
    ...(source === null ? [] : [{ name: 'source', condition: source, index }]),
    ...(target === null || !isInProject
      ? []
      : [{ name: 'target', condition: target, index: 'merge_requests_project_target' }]),
    ...(merged.length === 0 || !isInProject
      ? []
      : [{ name: 'merged', condition: allOf(merged), index: 'merge_requests_merged' }]),
  ];
};
