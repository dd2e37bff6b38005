/** Merge requests with what their JSON embeds, in a number of statements that does not depend on how many they are. */
import type { Selectable } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Words } from '../db/engine.ts';
import type { Reader } from '../db/open.ts';
import type { ProjectsTable } from '../db/schema.ts';
import type { MergeRequestsTable } from '../db/schema_code.ts';
import { joinedUser, joinedUserColumns } from '../issuables/joined_users.ts';
import {
  type Relations,
  joinedColumns,
  usersColumn,
  usersOfColumn,
  wholeColumns,
  wholeOf,
  withRelations as completed,
} from '../issuables/rows.ts';
import type { BasicUserRow } from '../users/json.ts';

export type MergeRequestRow = Selectable<MergeRequestsTable>;

/** Of its latest version. */
export type LatestVersion = {
  base_sha: string | null;
  start_sha: string | null;
  /** Number of files; a `+` where there are more than are stored. */
  real_size: string | null;
};

/** Users that are named only where something was done: by id. */
const doers = ['merged_by', 'closed_by', 'merge_user'] as const;

type Doer = (typeof doers)[number];
type Doers = { [D in Doer]: BasicUserRow | null };

export type FullMergeRequest = MergeRequestRow &
  Relations &
  LatestVersion &
  Doers & {
    project_path: string;
    project_squash_option: Selectable<ProjectsTable>['squash_option'];
    reviewers: BasicUserRow[];
  };

/** Merge requests with author, milestone and latest version, for a query that joins them with `projects` (the target). */
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
  `${Doer}_id` | `${Doer}_name` | `${Doer}_username` | `${Doer}_state` | `${Doer}_email`
>;

const withDoers = <R extends DoerColumns>(row: R): R & Doers => ({
  ...row,
  merged_by: joinedUser(row, 'merged_by'),
  closed_by: joinedUser(row, 'closed_by'),
  merge_user: joinedUser(row, 'merge_user'),
});

/** Completes rows, in their order. */
export const withRelations = async (db: Reader, rows: JoinedMergeRequest[]): Promise<FullMergeRequest[]> =>
  (await completed(db, 'MergeRequest', rows)).map(withDoers);

const rowsById = compiled((db, { ids }: { ids: readonly number[] }, words) =>
  selectMergeRequests(db).where(words.oneOf('merge_requests.id', ids)).compile(),
);

const selectWhole = (db: Reader, words: Words) =>
  selectMergeRequests(db)
    .select(wholeColumns('MergeRequest', 'merge_requests', words))
    .select(usersColumn('reviewers', 'MergeRequest', 'merge_requests', words).as('reviewing_users'));

const wholeById = compiled((db, { id }: { id: number }, words) =>
  selectWhole(db, words).where('merge_requests.id', '=', id).compile(),
);

const wholeByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, words) =>
  selectWhole(db, words)
    .where('merge_requests.project_id', '=', project_id)
    .where('merge_requests.iid', '=', iid)
    .compile(),
);

type Whole = Awaited<ReturnType<typeof wholeById>>[number];

const fullOf = ({ reviewing_users, ...row }: Whole): FullMergeRequest => ({
  ...withDoers(wholeOf(row)),
  reviewers: usersOfColumn(reviewing_users),
});

/** The merge request with this id, whoever sees it. */
export const mergeRequestById = async (db: Reader, id: number): Promise<FullMergeRequest | undefined> =>
  (await wholeById(db, { id })).map(fullOf)[0];

/** The merge request of a target project with this iid, whoever sees it. */
export const mergeRequestByIid = async (
  db: Reader,
  project_id: number,
  iid: number,
): Promise<FullMergeRequest | undefined> => (await wholeByIid(db, { project_id, iid })).map(fullOf)[0];

/** The merge requests of these ids, whoever sees them, in no order. */
export const mergeRequestsById = async (db: Reader, ids: readonly number[]): Promise<FullMergeRequest[]> => {
  const [only] = ids;
  if (only === undefined) return [];
  if (ids.length > 1) return await withRelations(db, await rowsById(db, { ids }));
  const found = await mergeRequestById(db, only);
  return found === undefined ? [] : [found];
};
