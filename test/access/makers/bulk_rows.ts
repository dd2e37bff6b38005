/** Inserts many records directly into the store, one for each request of the matrix that may change it. */
import { type Insertable, sql } from 'kysely';
import type { Tx } from '../../../src/platform/db/open.ts';
import type { Schema } from '../../../src/platform/db/schema/database.ts';
import { unique } from '../../support/seed.ts';
import type { Switch, Visibility } from '../expected.ts';

type Table =
  | 'issues'
  | 'merge_requests'
  | 'notes'
  | 'award_emoji'
  | 'todos'
  | 'labels'
  | 'milestones'
  | 'projects'
  | 'members'
  | 'namespaces'
  | 'users'
  | 'tokens'
  | 'pipelines'
  | 'stages'
  | 'job_configs'
  | 'jobs'
  | 'runners'
  | 'environments'
  | 'deployments'
  | 'resource_groups'
  | 'pipeline_schedules'
  | 'triggers'
  | 'artifacts'
  | 'boards'
  | 'board_lists';

/** Fewer values than the statement limit of either engine. */
const mostValues = 20_000;

/** Inserts all rows; returns their ids in order. */
export const insertAll = async <T extends Table>(
  tx: Tx,
  table: T,
  rows: Insertable<Schema[T]>[],
): Promise<number[]> => {
  const ids: number[] = [];
  const size = Math.max(Math.floor(mostValues / Object.keys(rows[0] ?? { none: 0 }).length), 1);
  for (let at = 0; at < rows.length; at += size) {
    const query = tx.db.insertInto(table).values(rows.slice(at, at + size));
    const made = (await query.returning('id' as never).execute()) as unknown as { id: number }[];
    ids.push(...made.map(({ id }) => id).toSorted((a, b) => a - b));
  }
  return ids;
};

const timesOf = ({ now }: Tx) => ({ created_at: now, updated_at: now });

export type IssueRow = {
  project_id: number;
  iid: number;
  author_id: number;
  confidential?: 0 | 1;
  deleted?: boolean;
};

export const insertIssues = async (tx: Tx, issues: IssueRow[]): Promise<number[]> => {
  const none = { description: null, milestone_id: null, due_date: null, moved_to_id: null };
  const open = { state: 'opened' as const, closed_at: null, closed_by_id: null, title: 'Of the matrix' };
  const ids = await insertAll(
    tx,
    'issues',
    issues.map(({ deleted = false, confidential = 0, ...issue }) => ({
      ...issue,
      ...none,
      ...open,
      ...timesOf(tx),
      confidential,
      deleted_at: deleted ? tx.now : null,
    })),
  );
  await storeSearchTexts(tx, 'issue_search', 'issue_id', ids);
  return ids;
};

/** Texts by which searches find one record: `of the matrix 12.` */
const storeSearchTexts = async (
  tx: Tx,
  table: 'issue_search' | 'merge_request_search',
  key: 'issue_id' | 'merge_request_id',
  ids: readonly number[],
): Promise<void> => {
  for (let at = 0; at < ids.length; at += 1_000) {
    await sql`insert into ${sql.table(table)} (${sql.ref(key)}, title, description)
      select id, 'of the matrix ' || id || '.', '' from ${sql.table(key === 'issue_id' ? 'issues' : 'merge_requests')}
      where id in (${sql.join(ids.slice(at, at + 1_000))})`.execute(tx.db);
  }
};

export type RequestRow = { project_id: number; iid: number; author_id: number; deleted?: boolean };

/** Merge requests without a version: their branches were never pushed. */
export const insertRequests = async (tx: Tx, requests: RequestRow[]): Promise<number[]> => {
  const none = { description: null, milestone_id: null, diff_id: null, head_sha: null, merge_error: null };
  const unchecked = {
    merge_status: 'unchecked' as const,
    checked_source_sha: null,
    checked_target_sha: null,
  };
  const unmerged = { merge_commit_sha: null, squash_commit_sha: null, merged_at: null, merged_by_id: null };
  const open = { state: 'opened' as const, closed_at: null, closed_by_id: null, title: 'Of the matrix' };
  const ids = await insertAll(
    tx,
    'merge_requests',
    requests.map(({ deleted = false, ...request }) => ({
      ...request,
      source_project_id: request.project_id,
      source_branch: unique('branch'),
      target_branch: 'main',
      merge_user_id: null,
      should_remove_source_branch: null,
      ...none,
      ...unchecked,
      ...unmerged,
      ...open,
      ...timesOf(tx),
      deleted_at: deleted ? tx.now : null,
    })),
  );
  await storeSearchTexts(tx, 'merge_request_search', 'merge_request_id', ids);
  return ids;
};

type Kind = 'Issue' | 'MergeRequest';

export const insertAssignees = async (
  tx: Tx,
  pairs: { target_type?: Kind; target_id: number; user_id: number }[],
): Promise<void> => {
  if (pairs.length === 0) return;
  const shared = { target_type: 'Issue' as const, position: 0, target_created_at: tx.now };
  await tx.db
    .insertInto('assignees')
    .values(pairs.map((pair) => ({ ...shared, ...pair })))
    .execute();
};

export type NoteRow = {
  project_id: number;
  target_type?: Kind | 'Snippet';
  target_id: number;
  author_id: number;
  system: 0 | 1;
};

export const insertNotes = async (tx: Tx, notes: NoteRow[]): Promise<number[]> =>
  await insertAll(
    tx,
    'notes',
    notes.map((note) => ({ target_type: 'Issue' as const, ...note, body: 'Noted', ...timesOf(tx) })),
  );

export type AwardRow = { target_type: Kind | 'Snippet' | 'Note'; target_id: number; user_id: number };

export const insertAwards = async (tx: Tx, awards: AwardRow[]): Promise<number[]> =>
  await insertAll(
    tx,
    'award_emoji',
    awards.map((award) => ({ ...award, name: 'rocket', ...timesOf(tx) })),
  );

export type TodoRow = {
  user_id: number;
  author_id: number;
  project_id: number;
  target_type?: Kind;
  target_id: number;
};

export const insertTodos = async (tx: Tx, todos: TodoRow[]): Promise<number[]> => {
  const shared = {
    target_type: 'Issue',
    action: 'marked',
    note_id: null,
    body: 'Do it',
    state: 'pending',
  } as const;
  return await insertAll(
    tx,
    'todos',
    todos.map((todo) => ({ ...shared, ...todo, ...timesOf(tx) })),
  );
};

/** A project, or a group, that owns labels and milestones. */
export type OwnerRow = { project_id: number; group_id: null } | { project_id: null; group_id: number };

export const insertLabels = async (tx: Tx, labels: (OwnerRow & { title: string })[]): Promise<number[]> =>
  await insertAll(
    tx,
    'labels',
    labels.map((label) => ({
      ...label,
      color: '#428BCA',
      description: null,
      priority: null,
      ...timesOf(tx),
    })),
  );

export const insertMilestones = async (
  tx: Tx,
  milestones: (OwnerRow & { iid: number })[],
): Promise<number[]> => {
  const shared = { description: null, state: 'active', start_date: null, due_date: null } as const;
  return await insertAll(
    tx,
    'milestones',
    milestones.map((milestone) => ({ ...milestone, title: unique('milestone'), ...shared, ...timesOf(tx) })),
  );
};

export type MemberRow = { user_id: number; access_level: number; expires_at?: string };

export const insertMembers = async (
  tx: Tx,
  [source_type, ids]: ['Project' | 'Namespace', number[]],
  members: MemberRow[],
): Promise<void> => {
  const shared = { source_type, created_by_id: null, created_at: tx.now };
  const rows = ids.flatMap((source_id) =>
    members.map((one) => ({ expires_at: null, ...one, ...shared, source_id })),
  );
  await insertAll(tx, 'members', rows);
};

export type Above = { id: number; full_path: string };

type ProjectRow = {
  visibility: Visibility;
  issues?: Switch;
  merge_requests?: Switch;
  code?: Switch;
  builds?: Switch;
  closed_builds?: boolean;
  archived?: boolean;
};

/** `count` similar projects, each with its counters and its route. */
export const insertProjects = async (
  tx: Tx,
  above: Above,
  count: number,
  row: ProjectRow,
): Promise<{ id: number; path: string; full_path: string }[]> => {
  const { visibility, issues = 'enabled', merge_requests = issues, code = 'enabled' } = row;
  const { archived = false, builds = 'enabled', closed_builds = false } = row;
  const paths = Array.from({ length: count }, () => unique('project'));
  const none = {
    description: null,
    default_branch: null,
    forked_from_project_id: null,
    deleted_at: null,
    creator_id: 1,
  };
  const rows = paths.map((path) => ({
    ...none,
    namespace_id: above.id,
    path,
    name: path,
    full_path: `${above.full_path}/${path}`,
    visibility,
    archived: archived ? (1 as const) : (0 as const),
    issues_access_level: issues,
    merge_requests_access_level: merge_requests,
    repository_access_level: code,
    builds_access_level: builds,
    public_builds: closed_builds ? (0 as const) : (1 as const),
    last_activity_at: tx.now,
    ...timesOf(tx),
  }));
  const ids = await insertAll(tx, 'projects', rows);
  await tx.db
    .insertInto('project_counters')
    .values(ids.map((project_id) => ({ project_id })))
    .execute();
  const made = ids.map((id, at) => ({ id, path: paths[at] ?? '', full_path: rows[at]?.full_path ?? '' }));
  await insertRoutes(tx, 'Project', made);
  return made;
};

const insertRoutes = async (tx: Tx, source_type: 'Project' | 'Namespace', made: Above[]): Promise<void> => {
  await tx.db
    .insertInto('routes')
    .values(made.map(({ id, full_path }) => ({ path: full_path.toLowerCase(), source_type, source_id: id })))
    .execute();
};

/** `count` similar groups below another. */
export const insertGroups = async (
  tx: Tx,
  above: Above,
  count: number,
  visibility: Visibility,
): Promise<{ id: number; path: string; full_path: string }[]> => {
  const shared = { kind: 'group' as const, parent_id: above.id, owner_id: null, description: '', visibility };
  const paths = Array.from({ length: count }, () => unique('group'));
  const rows = paths.map((path) => ({
    ...shared,
    path,
    name: path,
    full_path: `${above.full_path}/${path}`,
    deleted_at: null,
    ...timesOf(tx),
  }));
  const ids = await insertAll(tx, 'namespaces', rows);
  const made = ids.map((id, at) => ({ id, path: paths[at] ?? '', full_path: rows[at]?.full_path ?? '' }));
  await insertRoutes(tx, 'Namespace', made);
  return made;
};
