/** Issues with what their JSON embeds, in a number of statements that does not depend on how many they are. */
import { type Selectable, sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Words } from '../db/engine.ts';
import type { Reader } from '../db/open.ts';
import type { IssuesTable } from '../db/schema.ts';
import type { MilestoneRow } from '../milestones/json.ts';
import { type BasicUserRow, basicUserColumns } from '../users/json.ts';

export type IssueRow = Selectable<IssuesTable>;

export type FullIssue = IssueRow & {
  project_path: string;
  author: BasicUserRow;
  assignees: BasicUserRow[];
  milestone: MilestoneRow | null;
  /** Titles, sorted. */
  labels: string[];
};

/** Issues with their author and milestone, for a query over `issues` joined with `projects`. */
export const selectIssues = (db: Reader) =>
  db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .innerJoin('users as author', 'author.id', 'issues.author_id')
    .leftJoin('milestones as milestone', 'milestone.id', 'issues.milestone_id')
    .selectAll('issues')
    .select([
      'projects.full_path as project_path',
      'author.name as author_name',
      'author.username as author_username',
      'author.state as author_state',
      'author.email as author_email',
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
    ]);

export type JoinedIssue = Awaited<ReturnType<ReturnType<typeof selectIssues>['execute']>>[number];

type Ids = { ids: readonly number[] };

const labelRows = compiled((db, { ids }: Ids, words) =>
  db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select(['label_links.target_id', 'labels.title'])
    .where('label_links.target_type', '=', 'Issue')
    .where(words.oneOf('label_links.target_id', ids))
    .compile(),
);

const assigneeRows = compiled((db, { ids }: Ids, words) =>
  db
    .selectFrom('assignees')
    .innerJoin('users', 'users.id', 'assignees.user_id')
    .select(basicUserColumns)
    .select(['assignees.target_id', 'assignees.position'])
    .where('assignees.target_type', '=', 'Issue')
    .where(words.oneOf('assignees.target_id', ids))
    .compile(),
);

const labelsOf = async (db: Reader, ids: number[]): Promise<Map<number, string[]>> =>
  groupBy(await labelRows(db, { ids }), (row) => row.title);

const assigneesOf = async (db: Reader, ids: number[]): Promise<Map<number, BasicUserRow[]>> => {
  const rows = await assigneeRows(db, { ids });
  const sorted = rows.toSorted((a, b) => a.position - b.position);
  return groupBy(sorted, ({ target_id: _target, position: _position, ...user }) => user);
};

const groupBy = <R extends { target_id: number }, V>(rows: R[], value: (row: R) => V): Map<number, V[]> => {
  const groups = new Map<number, V[]>();
  for (const row of rows) {
    const group = groups.get(row.target_id);
    if (group === undefined) groups.set(row.target_id, [value(row)]);
    else group.push(value(row));
  }
  return groups;
};

const authorOf = (row: JoinedIssue): BasicUserRow => ({
  id: row.author_id,
  name: row.author_name,
  username: row.author_username,
  state: row.author_state,
  email: row.author_email,
});

const milestoneOf = (row: JoinedIssue): MilestoneRow | null => {
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
  };
};

const byBytes = (a: string, b: string): number => (a < b ? -1 : 1);

/** Completes rows, in their order. */
export const withRelations = async (db: Reader, rows: JoinedIssue[]): Promise<FullIssue[]> => {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const [labels, assignees] = await Promise.all([labelsOf(db, ids), assigneesOf(db, ids)]);
  return rows.map((row) => ({
    ...row,
    author: authorOf(row),
    assignees: assignees.get(row.id) ?? [],
    milestone: milestoneOf(row),
    labels: (labels.get(row.id) ?? []).toSorted(byBytes),
  }));
};

const rowsById = compiled((db, { ids }: Ids, words) =>
  selectIssues(db).where(words.oneOf('issues.id', ids)).compile(),
);

/** One issue with all it embeds, in one statement: for many, three are quicker. */
const selectWhole = (db: Reader, words: Words) => {
  const ref = (column: string) => sql.ref(column);
  const labels = sql<string>`(select ${words.jsonRows([ref('labels.title')], ref('labels.title'))}
    from label_links join labels on labels.id = label_links.label_id
    where label_links.target_type = 'Issue' and label_links.target_id = issues.id)`;
  const users = sql<string>`(select ${words.jsonRows(basicUserColumns.map(ref), ref('assignees.position'))}
    from assignees join users on users.id = assignees.user_id
    where assignees.target_type = 'Issue' and assignees.target_id = issues.id)`;
  return selectIssues(db).select([labels.as('label_titles'), users.as('assigned_users')]);
};

type WholeRow = JoinedIssue & { label_titles: string; assigned_users: string };
type UserValues = [number, string, string, BasicUserRow['state'], string];

const wholeOf = ({ label_titles, assigned_users, ...row }: WholeRow): FullIssue => ({
  ...row,
  author: authorOf(row),
  assignees: (JSON.parse(assigned_users) as UserValues[]).map(([id, name, username, state, email]) => {
    return { id, name, username, state, email };
  }),
  milestone: milestoneOf(row),
  labels: (JSON.parse(label_titles) as [string][]).flat().toSorted(byBytes),
});

const wholeById = compiled((db, { id }: { id: number }, words) =>
  selectWhole(db, words).where('issues.id', '=', id).compile(),
);

const wholeByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, words) =>
  selectWhole(db, words).where('issues.project_id', '=', project_id).where('issues.iid', '=', iid).compile(),
);

/** The issue with this id, whoever sees it. */
export const issueById = async (db: Reader, id: number): Promise<FullIssue | undefined> =>
  (await wholeById(db, { id })).map(wholeOf)[0];

/** The issue with this iid, whoever sees it. */
export const issueByIid = async (
  db: Reader,
  project_id: number,
  iid: number,
): Promise<FullIssue | undefined> => (await wholeByIid(db, { project_id, iid })).map(wholeOf)[0];

/** The issues of these ids, whoever sees them, in no order. */
export const issuesById = async (db: Reader, ids: readonly number[]): Promise<FullIssue[]> => {
  const [only] = ids;
  if (only === undefined) return [];
  if (ids.length > 1) return await withRelations(db, await rowsById(db, { ids }));
  const issue = await issueById(db, only);
  return issue === undefined ? [] : [issue];
};
