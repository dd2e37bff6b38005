import { sql } from 'kysely';
import { namesVersion } from '../../core/access/credentials/authenticate.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Call } from '../../core/access/call.ts';
import { canSeeIssue, hasFeature } from '../../core/access/visible.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { LoadedTarget } from '../issuables/target.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';
import { type FullIssue, issueById, issueByIid } from './rows.ts';

export type LoadedIssue = LoadedTarget & { issue: FullIssue };

export const toLoadedIssue = (project: Project, issue: FullIssue): LoadedIssue => {
  const assignee_ids = issue.assignees.map((user) => user.id);
  return {
    issue,
    project,
    target: {
      type: 'Issue',
      id: issue.id,
      iid: issue.iid,
      project_id: issue.project_id,
      title: issue.title,
      author_id: issue.author_id,
      assignee_ids,
      time_estimate: issue.time_estimate,
      total_time_spent: issue.total_time_spent,
      discussion_locked: issue.discussion_locked === 1,
      created_at: issue.created_at,
    },
    isVisibleTo: (viewer) => canSeeIssue(viewer, project, { ...issue, assignee_ids }),
  };
};

/**
 * Loads an issue of a project by iid, if the caller may see it.
 * @param noun set by the few endpoints whose 404 names it: `404 Issue Not Found`
 */
const findIssueIn = async (
  call: Call,
  project: Project,
  iid: number,
  noun?: 'Issue',
): Promise<LoadedIssue> => {
  if (!hasFeature(call.viewer, project, 'issues_access_level')) throw notFound(noun);
  const issue = await issueByIid(call.db, project.id, iid);
  if (issue === undefined) throw notFound(noun);
  const loaded = toLoadedIssue(project, issue);
  if (!loaded.isVisibleTo(call.viewer)) throw notFound(noun);
  return loaded;
};

/** Loads an issue by the id or path of its project and its iid; 404 if the caller may not see it. */
export const findIssue = async (
  call: Call,
  projectId: number | string,
  iid: number,
  noun?: 'Issue',
): Promise<LoadedIssue> => await findIssueIn(call, await findProject(call, projectId), iid, noun);

/** Reloads an issue after a change, without a check of visibility. */
export const reloadIssue = async (db: Reader, project: Project, id: number): Promise<LoadedIssue> => {
  const issue = await issueById(db, id);
  if (issue === undefined) throw notFound();
  return toLoadedIssue(project, issue);
};

/** Locks an issue's row in a transaction and loads the issue; 404 if it was deleted meanwhile. */
export const lockIssue = async (
  tx: Tx,
  project: Project,
  id: number,
  noun?: 'Issue',
): Promise<LoadedIssue> => {
  const { rows } =
    await sql`select id from issues where id = ${id} and deleted_at is null ${tx.dialect.forUpdate}`.execute(
      tx.db,
    );
  if (rows.length === 0) throw notFound(noun);
  return await reloadIssue(tx.db, project, id);
};

type Current = { revision: number; names_version: number };

const lockedRow = compiled((db, { id }: { id: number }, dialect) =>
  sql<Current>`select revision, ${namesVersion} as names_version
    from issues where id = ${id} and deleted_at is null ${dialect.forUpdate}`.compile(db),
);

/**
 * Locks the row of an issue that the call has loaded; 404 if it was deleted meanwhile. Loads it again only if it, or
 * a name that it embeds, has changed since the call began.
 */
export const lockLoadedIssue = async (
  tx: Tx,
  { names_version }: Pick<Call, 'names_version'>,
  loaded: LoadedIssue,
): Promise<LoadedIssue> => {
  const { issue, project } = loaded;
  const [row] = await lockedRow(tx.db, { id: issue.id });
  if (row === undefined) throw notFound();
  const isCurrent = row.revision === issue.revision && row.names_version === names_version;
  return isCurrent ? loaded : await reloadIssue(tx.db, project, issue.id);
};
