/** Finds one job and authorizes the caller to read it or act on it. */
import type { Call } from '../../core/access/call.ts';
import type { ProjectAction } from '../../core/access/may.ts';
import type { Reader } from '../../platform/db/open.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { mayRunJobsOn } from '../pipelines/creation/creation_rights.ts';
import { type Code, findCode } from '../../code/repository/find_code.ts';
import { type JobRow, jobColumns } from './rows.ts';

export type LoadedJob = { code: Code; job: JobRow };

/**
 * Loads a job that runs on a runner.
 * @throws Failure 404 if it does not exist or is a trigger job, which has no log or artifacts
 */
export const loadJob = async (db: Reader, projectId: number, id: number): Promise<JobRow> => {
  const job = await loadAnyJob(db, projectId, id);
  if (job.bridge === 1) throw notFound();
  return job;
};

/**
 * Loads a job of any kind, trigger jobs included.
 * @throws Failure 404
 */
export const loadAnyJob = async (db: Reader, projectId: number, id: number): Promise<JobRow> => {
  const job = await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  if (job === undefined) throw notFound();
  return job;
};

/**
 * Finds a job of a project and checks the caller's permission.
 * @throws Failure 404 if the project is hidden or has no such job, 403 without the permission
 */
export const findJob = async (
  call: Call,
  id: number | string,
  jobId: number,
  action: ProjectAction = 'read_job',
): Promise<LoadedJob> => {
  const code = await findCode(call, id, action);
  return { code, job: await loadJob(call.db, code.project.id, jobId) };
};

/**
 * Finds a job that the caller wants to change.
 * @throws Failure as `findJob`; 403 if a protected branch or tag forbids it
 */
export const findJobToChange = async (
  call: Call,
  id: number | string,
  jobId: number,
  load = loadJob,
): Promise<LoadedJob> => {
  const code = await findCode(call, id, 'update_job');
  const job = await load(call.db, code.project.id, jobId);
  if (!(await mayRunJobsOn(call, code.project, job))) throw forbidden();
  return { code, job };
};

/** Like `findJobToChange`, for jobs of any kind: to cancel, retry or play. */
export const findJobToRun = async (call: Call, id: number | string, jobId: number): Promise<LoadedJob> =>
  await findJobToChange(call, id, jobId, loadAnyJob);
