import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { canSeeIssue, hasFeature } from '../access/visible.ts';
import type { Reader, Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Found } from '../issuables/target.ts';
import { type Project, findProject } from '../projects/find.ts';
import { type FullIssue, issueById, issueByIid } from './rows.ts';

export type FoundIssue = Found & { issue: FullIssue };

const foundOf = (project: Project, issue: FullIssue): FoundIssue => {
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
      created_at: issue.created_at,
    },
    isVisibleTo: (viewer) => canSeeIssue(viewer, project, { ...issue, assignee_ids }),
  };
};

/**
 * An issue of a project by iid, if the caller sees it.
 * @param noun for the few calls whose 404 names it: `404 Issue Not Found`
 */
const findIssueIn = async (
  call: Call,
  project: Project,
  iid: number,
  noun?: 'Issue',
): Promise<FoundIssue> => {
  if (!hasFeature(call.viewer, project, 'issues_access_level')) throw notFound(noun);
  const issue = await issueByIid(call.db, project.id, iid);
  if (issue === undefined) throw notFound(noun);
  const found = foundOf(project, issue);
  if (!found.isVisibleTo(call.viewer)) throw notFound(noun);
  return found;
};

/** As `findIssueIn`, the project by id or path. */
export const findIssue = async (
  call: Call,
  projectId: number | string,
  iid: number,
  noun?: 'Issue',
): Promise<FoundIssue> => await findIssueIn(call, await findProject(call, projectId), iid, noun);

/** An issue again after a change, whoever sees it. */
export const reloadIssue = async (db: Reader, project: Project, id: number): Promise<FoundIssue> => {
  const issue = await issueById(db, id);
  if (issue === undefined) throw notFound();
  return foundOf(project, issue);
};

/** The issue inside a transaction, its row locked against other changes; 404 if it was deleted meanwhile. */
export const lockIssue = async (
  tx: Tx,
  project: Project,
  id: number,
  noun?: 'Issue',
): Promise<FoundIssue> => {
  const { rows } =
    await sql`select id from issues where id = ${id} and deleted_at is null ${tx.words.forUpdate}`.execute(
      tx.db,
    );
  if (rows.length === 0) throw notFound(noun);
  return await reloadIssue(tx.db, project, id);
};
