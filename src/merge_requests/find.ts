import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import type { Reader, Tx } from '../db/open.ts';
import { forbidden, notFound } from '../errors.ts';
import type { Found } from '../issuables/target.ts';
import { type Project, findProject } from '../projects/find.ts';
import { type FullMergeRequest, mergeRequestById, mergeRequestByIid } from './rows.ts';

/** `project` is the target. */
export type FoundMergeRequest = Found & { merge_request: FullMergeRequest };

const foundOf = (project: Project, merge_request: FullMergeRequest): FoundMergeRequest => ({
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
    created_at: merge_request.created_at,
  },
  isVisibleTo: (viewer) => merge_request.deleted_at === null && canSeeMergeRequests(viewer, project),
});

const findIn = async (call: Call, project: Project, iid: number): Promise<FoundMergeRequest> => {
  const found = await mergeRequestByIid(call.db, project.id, iid);
  if (found === undefined || found.deleted_at !== null) throw notFound();
  return foundOf(project, found);
};

/** A merge request of a project, if the caller sees it; else 404: for merge, cancel, delete and time tracking. */
export const findMergeRequest = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<FoundMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!canSeeMergeRequests(call.viewer, project)) throw notFound();
  return await findIn(call, project, iid);
};

/** As `findMergeRequest`, but 403 for one who sees the project and not its merge requests: for all else. */
export const findReadable = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<FoundMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!may(call.viewer, 'read_merge_request', project)) throw forbidden();
  return await findIn(call, project, iid);
};

/** A merge request again after a change, whoever sees it. */
export const reloadMergeRequest = async (
  db: Reader,
  project: Project,
  id: number,
): Promise<FoundMergeRequest> => {
  const found = await mergeRequestById(db, id);
  if (found === undefined) throw notFound();
  return foundOf(project, found);
};

/** The merge request inside a transaction, its row locked against other changes; 404 if it was deleted meanwhile. */
export const lockMergeRequest = async (tx: Tx, project: Project, id: number): Promise<FoundMergeRequest> => {
  const { rows } = await sql`select id from merge_requests
    where id = ${id} and deleted_at is null ${tx.words.forUpdate}`.execute(tx.db);
  if (rows.length === 0) throw notFound();
  return await reloadMergeRequest(tx.db, project, id);
};
