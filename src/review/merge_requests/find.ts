import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { canSeeMergeRequests } from '../../core/access/visible.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { forbidden, notFound, unauthorized } from '../../platform/errors.ts';
import type { LoadedTarget } from '../../planning/issuables/target.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';
import { type FullMergeRequest, mergeRequestById, mergeRequestByIid } from './rows.ts';

/** A merge request with its target project, `project`. */
export type LoadedMergeRequest = LoadedTarget & { merge_request: FullMergeRequest };

const toLoadedMergeRequest = (project: Project, merge_request: FullMergeRequest): LoadedMergeRequest => ({
  merge_request,
  project,
  target: {
    type: 'MergeRequest',
    id: merge_request.id,
    iid: merge_request.iid,
    project_id: merge_request.project_id,
    title: merge_request.title,
    author_id: merge_request.author_id,
    assignee_ids: merge_request.assignees.map((user) => user.id),
    time_estimate: merge_request.time_estimate,
    total_time_spent: merge_request.total_time_spent,
    discussion_locked: merge_request.discussion_locked === 1,
    created_at: merge_request.created_at,
  },
  isVisibleTo: (viewer) => merge_request.deleted_at === null && canSeeMergeRequests(viewer, project),
});

const findInProject = async (call: Call, project: Project, iid: number): Promise<LoadedMergeRequest> => {
  const row = await mergeRequestByIid(call.db, project.id, iid);
  if (row === undefined || row.deleted_at !== null) throw notFound();
  return toLoadedMergeRequest(project, row);
};

/** Loads a merge request; 404 if the caller cannot see it. For deletion, rebase and time tracking. */
export const findMergeRequest = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<LoadedMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!canSeeMergeRequests(call.viewer, project)) throw notFound();
  return await findInProject(call, project, iid);
};

/** Like `findMergeRequest`, but 403 if the caller sees the project and not its merge requests. */
export const findReadable = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<LoadedMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!may(call.viewer, 'read_merge_request', project)) throw forbidden();
  return await findInProject(call, project, iid);
};

/**
 * Like `findMergeRequest`, but 401 if the caller sees the project and not its merge requests, as for others who may
 * not merge. For merge and cancel.
 */
export const findToMerge = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<LoadedMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!canSeeMergeRequests(call.viewer, project)) throw unauthorized();
  return await findInProject(call, project, iid);
};

/** Reloads a merge request after a change, without access checks. */
export const reloadMergeRequest = async (
  db: Reader,
  project: Project,
  id: number,
): Promise<LoadedMergeRequest> => {
  const row = await mergeRequestById(db, id);
  if (row === undefined) throw notFound();
  return toLoadedMergeRequest(project, row);
};

/** Loads a merge request in a transaction and locks its row; 404 if it was deleted meanwhile. */
export const lockMergeRequest = async (tx: Tx, project: Project, id: number): Promise<LoadedMergeRequest> => {
  const { rows } = await sql`select id from merge_requests
    where id = ${id} and deleted_at is null ${tx.dialect.forUpdate}`.execute(tx.db);
  if (rows.length === 0) throw notFound();
  return await reloadMergeRequest(tx.db, project, id);
};
