/** Loads the records that the JSON of issues and merge requests embeds: author, milestone, labels, assignees. */
import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { type MilestoneRow, milestoneOwnerPath } from '../../../projects/milestones/json.ts';
import { type BasicUserRow, basicUserColumns } from '../../../identity/users/json.ts';

/** Columns of the joined tables `projects`, `users as author` and `milestones as milestone`. */
export const joinedColumns = [
  'projects.full_path as project_path',
  'author.name as author_name',
  'author.username as author_username',
  'author.state as author_state',
  'author.email as author_email',
  'author.avatar as author_avatar',
  'milestone.iid as milestone_iid',
  'milestone.project_id as milestone_project_id',
  'milestone.group_id as milestone_group_id',
  'milestone.title as milestone_title',
  'milestone.description as milestone_description',
  'milestone.state as milestone_state',
  'milestone.start_date as milestone_start_date',
  'milestone.due_date as milestone_due_date',
  'milestone.created_at as milestone_created_at',
  'milestone.updated_at as milestone_updated_at',
  milestoneOwnerPath('milestone').as('milestone_owner_path'),
] as const;

type Authored = {
  author_id: number;
  author_name: string;
  author_username: string;
  author_state: BasicUserRow['state'];
  author_email: string;
  author_avatar: string | null;
};

type Planned = { milestone_id: number | null } & {
  [C in Exclude<keyof MilestoneRow, 'id'> as `milestone_${C}`]: MilestoneRow[C] | null;
};

/** A row with the columns of `joinedColumns`. */
export type Joined = Authored & Planned;

/** Embedded records and lists of a record. */
export type Relations = {
  author: BasicUserRow;
  assignees: BasicUserRow[];
  milestone: MilestoneRow | null;
  /** Titles, sorted. */
  labels: string[];
};

const toAuthor = (row: Authored): BasicUserRow => ({
  id: row.author_id,
  name: row.author_name,
  username: row.author_username,
  state: row.author_state,
  email: row.author_email,
  avatar: row.author_avatar,
});

const toMilestone = (row: Planned): MilestoneRow | null => {
  if (row.milestone_id === null || row.milestone_iid === null) return null;
  return {
    id: row.milestone_id,
    iid: row.milestone_iid,
    project_id: row.milestone_project_id,
    group_id: row.milestone_group_id,
    title: row.milestone_title ?? '',
    description: row.milestone_description,
    state: row.milestone_state ?? 'active',
    start_date: row.milestone_start_date,
    due_date: row.milestone_due_date,
    created_at: row.milestone_created_at ?? 0,
    updated_at: row.milestone_updated_at ?? 0,
    owner_path: row.milestone_owner_path ?? '',
  };
};

const byBytes = (a: string, b: string): number => (a < b ? -1 : 1);

/** Sorts the titles of labels as records show them. */
export const sortTitles = (titles: readonly string[]): string[] => titles.toSorted(byBytes);

const groupBy = <R extends { target_id: number }, V>(rows: R[], value: (row: R) => V): Map<number, V[]> => {
  const groups = new Map<number, V[]>();
  for (const row of rows) {
    const group = groups.get(row.target_id);
    if (group === undefined) groups.set(row.target_id, [value(row)]);
    else group.push(value(row));
  }
  return groups;
};

type RecordIds = { type: TargetType; ids: readonly number[] };

const labelRows = compiled((db, { type, ids }: RecordIds, dialect) =>
  db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select(['label_links.target_id', 'labels.title'])
    .where('label_links.target_type', '=', type)
    .where(dialect.oneOf('label_links.target_id', ids))
    .compile(),
);

type UserLinks = 'assignees' | 'reviewers';

/** Loads the linked users of records, from one or two link tables, in one statement. */
const linkedUsers = (first: UserLinks, second?: UserLinks) =>
  compiled((db, { type, ids }: RecordIds, dialect) => {
    const selectLinked = (links: UserLinks) => {
      // Both tables have the columns that are read here, so the types name only one of them.
      const table = links as 'assignees';
      return db
        .selectFrom(table)
        .innerJoin('users', 'users.id', `${table}.user_id`)
        .select(basicUserColumns)
        .select([`${table}.target_id`, `${table}.position`, sql.lit(links).as('links')])
        .where(`${table}.target_type`, '=', type)
        .where(dialect.oneOf(`${table}.target_id`, ids));
    };
    return (
      second === undefined ? selectLinked(first) : selectLinked(first).unionAll(selectLinked(second))
    ).compile();
  });

const usersByType = { Issue: linkedUsers('assignees'), MergeRequest: linkedUsers('assignees', 'reviewers') };

/** Adds the embedded records to rows, keeping their order, in two statements. */
export const withRelations = async <R extends Joined & { id: number }>(
  db: Reader,
  type: TargetType,
  rows: R[],
): Promise<(R & Relations & { reviewers: BasicUserRow[] })[]> => {
  if (rows.length === 0) return [];
  const recordIds = { type, ids: rows.map((row) => row.id) };
  const [labeled, users] = await Promise.all([labelRows(db, recordIds), usersByType[type](db, recordIds)]);
  const sorted = users.toSorted((a, b) => a.position - b.position);
  const toUsers = (links: UserLinks) =>
    groupBy(
      sorted.filter((row) => row.links === links),
      ({ target_id: _target, position: _position, links: _links, ...user }) => user,
    );
  const [assignees, reviewers] = [toUsers('assignees'), toUsers('reviewers')];
  const labels = groupBy(labeled, (row) => row.title);
  return rows.map((row) => ({
    ...row,
    author: toAuthor(row),
    assignees: assignees.get(row.id) ?? [],
    reviewers: reviewers.get(row.id) ?? [],
    milestone: toMilestone(row),
    labels: sortTitles(labels.get(row.id) ?? []),
  }));
};

type Table = 'issues' | 'merge_requests';

const ref = (column: string) => sql.ref(column);

const linkedTo = (links: string, type: TargetType, table: Table): RawBuilder<boolean> =>
  sql`${ref(`${links}.target_type`)} = ${sql.lit(type)} and ${ref(`${links}.target_id`)} = ${ref(`${table}.id`)}`;

/** Linked users as a column of the row itself, for `usersOfColumn`. */
export const usersColumn = (links: UserLinks, type: TargetType, table: Table, dialect: SqlDialect) =>
  sql<string>`(select ${dialect.jsonRows(basicUserColumns.map(ref), ref(`${links}.position`))}
    from ${sql.table(links)} join users on users.id = ${ref(`${links}.user_id`)} where ${linkedTo(links, type, table)})`;

/** Labels and assignees as columns of the row itself: for one record a single statement is quicker than three. */
export const wholeColumns = (type: TargetType, table: Table, dialect: SqlDialect) => {
  const labels = sql<string>`(select ${dialect.jsonRows([ref('labels.title')], ref('labels.title'))}
    from label_links join labels on labels.id = label_links.label_id where ${linkedTo('label_links', type, table)})`;
  const users = usersColumn('assignees', type, table, dialect);
  return [labels.as('label_titles'), users.as('assigned_users')] as const;
};

type Whole = Joined & { label_titles: string; assigned_users: string };
type UserValues = [number, string, string, BasicUserRow['state'], string, string | null];

/** The users of a `usersColumn`. */
export const usersOfColumn = (text: string): BasicUserRow[] =>
  (JSON.parse(text) as UserValues[]).map(([id, name, username, state, email, avatar]) => {
    return { id, name, username, state, email, avatar };
  });

/** A row with the columns of `wholeColumns`. */
export const parseRelations = <R extends Whole>({ label_titles, assigned_users, ...row }: R) => ({
  ...row,
  author: toAuthor(row),
  assignees: usersOfColumn(assigned_users),
  milestone: toMilestone(row),
  labels: sortTitles((JSON.parse(label_titles) as [string][]).flat()),
});
