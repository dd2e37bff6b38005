/** Loads merge requests with the records their JSON embeds, in a constant number of statements. */
import type { Selectable } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { ProjectsTable } from '../../platform/db/schema/projects.ts';
import type { MergeRequestsTable } from '../../platform/db/schema/review.ts';
import { joinedUser, joinedUserColumns } from '../../planning/issuables/lists/joined_users.ts';
import {
  type Relations,
  joinedColumns,
  usersColumn,
  usersOfColumn,
  wholeColumns,
  parseRelations,
  withRelations as completed,
} from '../../planning/issuables/lists/rows.ts';
import type { BasicUserRow } from '../../identity/users/json.ts';

export type MergeRequestRow = Selectable<MergeRequestsTable>;

/** Columns of the latest version. */
export type LatestVersion = {
  base_sha: string | null;
  start_sha: string | null;
  /** Number of files, with `+` if not all are stored. */
  real_size: string | null;
};

/** Optional users, stored by id. */
const optionalUsers = ['merged_by', 'closed_by', 'merge_user'] as const;

type Doer = (typeof optionalUsers)[number];
type Doers = { [D in Doer]: BasicUserRow | null };

export type FullMergeRequest = MergeRequestRow &
  Relations &
  LatestVersion &
  Doers & {
    project_path: string;
    project_squash_option: Selectable<ProjectsTable>['squash_option'];
    reviewers: BasicUserRow[];
  };

/** Selects merge requests with author, milestone and latest version, joined with `projects` (the target). */
export const selectMergeRequests = (db: Reader) =>
  db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .innerJoin('users as author', 'author.id', 'merge_requests.author_id')
    .leftJoin('milestones as milestone', 'milestone.id', 'merge_requests.milestone_id')
    .leftJoin('merge_request_diffs as version', 'version.id', 'merge_requests.diff_id')
    .leftJoin('users as merged_by', 'merged_by.id', 'merge_requests.merged_by_id')
    .leftJoin('users as closed_by', 'closed_by.id', 'merge_requests.closed_by_id')
    .leftJoin('users as merge_user', 'merge_user.id', 'merge_requests.merge_user_id')
    .selectAll('merge_requests')
    .select(joinedColumns)
    .select('projects.squash_option as project_squash_option')
    .select([
      'version.base_commit_sha as base_sha',
      'version.start_commit_sha as start_sha',
      'version.real_size as real_size',
    ])
    .select(joinedUserColumns('merged_by'))
    .select(joinedUserColumns('closed_by'))
    .select(joinedUserColumns('merge_user'));

export type JoinedMergeRequest = Awaited<
  ReturnType<ReturnType<typeof selectMergeRequests>['execute']>
>[number];

type DoerColumns = Pick<
  JoinedMergeRequest,
  `${Doer}_id` | `${Doer}_name` | `${Doer}_username` | `${Doer}_state` | `${Doer}_email` | `${Doer}_avatar`
>;

const withDoers = <R extends DoerColumns>(row: R): R & Doers => ({
  ...row,
  merged_by: joinedUser(row, 'merged_by'),
  closed_by: joinedUser(row, 'closed_by'),
  merge_user: joinedUser(row, 'merge_user'),
});

/** Adds the relations to rows and keeps their order. */
export const withRelations = async (db: Reader, rows: JoinedMergeRequest[]): Promise<FullMergeRequest[]> =>
  (await completed(db, 'MergeRequest', rows)).map(withDoers);

const rowsById = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  selectMergeRequests(db).where(dialect.oneOf('merge_requests.id', ids)).compile(),
);

const selectWhole = (db: Reader, dialect: SqlDialect) =>
  selectMergeRequests(db)
    .select(wholeColumns('MergeRequest', 'merge_requests', dialect))
    .select(usersColumn('reviewers', 'MergeRequest', 'merge_requests', dialect).as('reviewing_users'));

const wholeById = compiled((db, { id }: { id: number }, dialect) =>
  selectWhole(db, dialect).where('merge_requests.id', '=', id).compile(),
);

const wholeByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, dialect) =>
  selectWhole(db, dialect)
    .where('merge_requests.project_id', '=', project_id)
    .where('merge_requests.iid', '=', iid)
    .compile(),
);

type Whole = Awaited<ReturnType<typeof wholeById>>[number];

const toFullMergeRequest = ({ reviewing_users, ...row }: Whole): FullMergeRequest => ({
  ...withDoers(parseRelations(row)),
  reviewers: usersOfColumn(reviewing_users),
});

/** Loads a merge request by id, without access checks. */
export const mergeRequestById = async (db: Reader, id: number): Promise<FullMergeRequest | undefined> =>
  (await wholeById(db, { id })).map(toFullMergeRequest)[0];

/** Loads a merge request by target project and iid, without access checks. */
export const mergeRequestByIid = async (
  db: Reader,
  project_id: number,
  iid: number,
): Promise<FullMergeRequest | undefined> =>
  (await wholeByIid(db, { project_id, iid })).map(toFullMergeRequest)[0];

/** Loads merge requests by ids, unordered and without access checks. */
export const mergeRequestsById = async (db: Reader, ids: readonly number[]): Promise<FullMergeRequest[]> => {
  const [only] = ids;
  if (only === undefined) return [];
  if (ids.length > 1) return await withRelations(db, await rowsById(db, { ids }));
  const row = await mergeRequestById(db, only);
  return row === undefined ? [] : [row];
};
