/** One job: whose it is to see, and whose to act on. */
import type { Call } from '../access/call.ts';
import type { ProjectAction } from '../access/may.ts';
import type { Reader } from '../db/open.ts';
import { forbidden, notFound } from '../errors.ts';
import { mayRunOn } from '../pipelines/rights.ts';
import { type Code, findCode } from '../repository/code.ts';
import { type JobRow, jobColumns } from './rows.ts';

export type FoundJob = { code: Code; job: JobRow };

/**
 * One that starts another pipeline is none that ran, and left nothing.
 * @throws Failure 404
 */
export const loadJob = async (db: Reader, projectId: number, id: number): Promise<JobRow> => {
  const job = await loadAnyJob(db, projectId, id);
  if (job.bridge === 1) throw notFound();
  return job;
};

/**
 * As `loadJob`, also one that starts another pipeline.
 * @throws Failure 404
 */
export const loadAnyJob = async (db: Reader, projectId: number, id: number): Promise<JobRow> => {
  const found = await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
};

/**
 * The job of a project. A job of another one is not found.
 * @throws Failure 404 where the caller does not see the project, 403 where he may not do this in it, 404 without a job
 */
export const findJob = async (
  call: Call,
  id: number | string,
  jobId: number,
  action: ProjectAction = 'read_job',
): Promise<FoundJob> => {
  const code = await findCode(call, id, action);
  return { code, job: await loadJob(call.db, code.project.id, jobId) };
};

/**
 * The job that the caller is to erase.
 * @throws Failure as `findJob`; 403 where its branch or tag is protected from him
 */
export const findJobToChange = async (
  call: Call,
  id: number | string,
  jobId: number,
  load = loadJob,
): Promise<FoundJob> => {
  const code = await findCode(call, id, 'update_job');
  const job = await load(call.db, code.project.id, jobId);
  if (!(await mayRunOn(call, code.project, job))) throw forbidden();
  return { code, job };
};

/** As `findJobToChange`, for what is done to every kind of job: it is cancelled, or run. */
export const findJobToRun = async (call: Call, id: number | string, jobId: number): Promise<FoundJob> =>
  await findJobToChange(call, id, jobId, loadAnyJob);
