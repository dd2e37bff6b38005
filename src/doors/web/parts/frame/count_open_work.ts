/** Counts the open work of the caller, for the top bar of every page. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { hashRoles, keepUntilCommit } from '../../../../core/access/keep_until_commit.ts';
import { today } from '../../../../core/access/viewer.ts';
import { visibleIssues, visibleMergeRequests } from '../../../../core/access/visible.ts';
import { getTableVersion } from '../../../../platform/db/compiled_query.ts';
import { everyTable, keepReads } from '../../../../platform/db/keep_until_change.ts';
import type { TargetType } from '../../../../platform/db/schema/column_types.ts';
import { issueTodos } from '../../../../planning/issues/todos.ts';
import { ownTodos } from '../../../../planning/todos/queries.ts';
import { mergeRequestTodos } from '../../../../review/merge_requests/todos.ts';

export type OpenWorkCounts = {
  /** Open issues that are assigned to the caller. */
  issues: number;
  /** Open merge requests that are assigned to the caller, wait for their review, or were sent back to them. */
  merge_requests: number;
  pending_todos: number;
};

/** Counting stops here; the top bar shows this count as `99+`. */
export const maxCount = 100;

/** The newest merge requests of a user among which those are counted that a reviewer sent back. */
const maxOwn = 500;

const maxCachedUsers = 2_000;
const cachePerUser = keepUntilCommit<OpenWorkCounts>(maxCachedUsers);

/** Bytes of counts with their keys. */
const maxCachedBytes = 400_000;
const cacheByTables = keepReads<OpenWorkCounts>(maxCachedBytes, () => 100);

const cappedCount = (rows: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`(select count(*) from (${rows} limit ${maxCount}) as counted)`;

const countRows = async (call: Call): Promise<OpenWorkCounts> => {
  const { viewer, platform, db } = call;
  const { dialect } = platform.store;
  const { id } = requireUser(call);
  const linksIn = (links: 'assignees' | 'reviewers', type: TargetType) =>
    sql`select target_id from ${sql.table(links)} where user_id = ${id} and target_type = ${type}`;
  const issues = sql`select 1 from (${linksIn('assignees', 'Issue')}) as links cross join issues cross join projects
    where issues.id = links.target_id and projects.id = issues.project_id
      and issues.state = 'opened' and ${visibleIssues(viewer, dialect)}`;
  const newest = sql`select id, state from merge_requests where author_id = ${id} and deleted_at is null
    order by created_at desc, id desc limit ${sql.lit(maxOwn)}`;
  const returned = sql`select newest.id as target_id from (${newest}) as newest where newest.state = 'opened'
    and exists (select 1 from reviewers where reviewers.target_type = 'MergeRequest'
      and reviewers.target_id = newest.id and reviewers.state = 'requested_changes')`;
  const linked = sql`${linksIn('assignees', 'MergeRequest')}
    union ${linksIn('reviewers', 'MergeRequest')} and state = 'unreviewed' union ${returned}`;
  const requests = sql`select 1 from (${linked}) as links cross join merge_requests cross join projects
    where merge_requests.id = links.target_id and projects.id = merge_requests.project_id
      and merge_requests.state = 'opened' and ${visibleMergeRequests(viewer, dialect)}`;
  const renderers = { Issue: issueTodos, MergeRequest: mergeRequestTodos };
  const todos = sql`select 1 from todos where todos.state = 'pending' and ${ownTodos(call, renderers)}`;
  const { rows } = await sql<OpenWorkCounts>`select ${cappedCount(issues)} as issues,
    ${cappedCount(requests)} as merge_requests, ${cappedCount(todos)} as pending_todos`.execute(db);
  return rows[0] ?? { issues: 0, merge_requests: 0, pending_todos: 0 };
};

/**
 * Counts the visible open work of the caller in one statement; cached until a table that it reads changes, and on
 * PostgreSQL until any transaction commits.
 */
export const countOpenWork = async (call: Call): Promise<OpenWorkCounts> => {
  const load = async () => await countRows(call);
  if (getTableVersion(call.db, everyTable) === null) return await cachePerUser(call, load);
  const key = `${requireUser(call).id} ${today(call.now)} ${hashRoles(call.viewer)}`;
  return await cacheByTables(call.db, key, load);
};
