/** Stops an environment: by the `on_stop` job of its last deployment, or immediately if there is none. */
import { loadActingViewer } from '../../core/access/background_actor.ts';
import { type Call, requireUser } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { type Project, loadProject } from '../../projects/projects/find.ts';
import { type Environment, parseJobEnvironment } from './job_environment.ts';
import { recordEnvironmentEvent } from './create_update_delete.ts';
import { type EnvironmentRow, findEnvironment, loadLastDeployment, lockEnvironment } from './queries.ts';

export type StopJob = { id: number; pipeline_id: number; status: string };

/** The stop job and the user who deployed. */
type StopJobOfUser = StopJob & { user_id: number | null };

/** Functions that play jobs. Passed in, because jobs come after environments in import order. */
export type JobRunner = {
  /** @throws Failure 403 if the caller cannot play the job */
  check: (call: Call, project: Project, jobId: number) => Promise<void>;
  play: (tx: Tx, jobId: number, userId: number) => Promise<unknown>;
  /** Returns whether a user can run this job; its branch or tag may be protected from them. */
  mayRun: (by: { db: Reader; viewer: Viewer }, project: Project, jobId: number) => Promise<boolean>;
};

/** Statuses of a stop job that is already queued or running. */
const activeStatuses = new Set(['pending', 'running', 'waiting_for_resource']);

const loadStopJobName = async (db: Reader, deploymentJobId: number) => {
  const job = await db
    .selectFrom('jobs')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select(['jobs.pipeline_id', 'job_configs.config'])
    .where('jobs.id', '=', deploymentJobId)
    .executeTakeFirst();
  const environment: Environment | null = job === undefined ? null : parseJobEnvironment(job.config);
  return { pipeline_id: job?.pipeline_id ?? 0, name: environment?.on_stop ?? null };
};

/** Finds the job that stops the last deployment; null if there is none. */
export const findStopJob = async (db: Reader, environmentId: number): Promise<StopJobOfUser | null> => {
  const newest = await loadLastDeployment(db, environmentId);
  if (newest === null || newest.job_id === null) return null;
  const { pipeline_id, name } = await loadStopJobName(db, newest.job_id);
  if (name === null) return null;
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'pipeline_id', 'status'])
    .where('pipeline_id', '=', pipeline_id)
    .where('name', '=', name)
    .where('retried', '=', 0)
    .executeTakeFirst();
  return job === undefined ? null : { ...job, user_id: newest.user_id };
};

const updateState = async (
  tx: Tx,
  { project_id, id }: EnvironmentRow,
  state: EnvironmentRow['state'],
): Promise<EnvironmentRow> => {
  // Lock order: the job's pipeline is locked before the environment, as at the end of a job.
  const row = await lockEnvironment(tx, project_id, id);
  const changed = { state, auto_stop_at: null, updated_at: tx.now };
  await tx.db.updateTable('environments').set(changed).where('id', '=', id).execute();
  return { ...row, ...changed };
};

/** @param force stop without running the `on_stop` job */
export const stopEnvironment = async (
  call: Call,
  project: Project,
  { id, force }: { id: number; force: boolean },
  { check, play }: JobRunner,
): Promise<EnvironmentRow> => {
  const environment = await findEnvironment(call.db, project.id, id);
  const job = force ? null : await findStopJob(call.db, id);
  if (job?.status === 'manual') await check(call, project, job.id);
  return await call.write(async (tx) => {
    const row = await findEnvironment(tx.db, project.id, id);
    if (row.state === 'stopped') return row;
    if (job?.status === 'manual') await play(tx, job.id, requireUser(call).id);
    const stopsLater = job !== null && (job.status === 'manual' || activeStatuses.has(job.status));
    const stopped = await updateState(tx, row, stopsLater ? 'stopping' : 'stopped');
    await recordEnvironmentEvent(call, tx, 'stopped', environment);
    return stopped;
  });
};

/** Checks whether the user who deployed can still run the stop job. */
const canPlay = async (tx: Tx, job: StopJobOfUser, projectId: number, mayRun: JobRunner['mayRun']) => {
  const viewer = await loadActingViewer(tx.db, job.user_id ?? 0, tx.now);
  const project = await loadProject(tx.db, projectId);
  if (viewer === null || project === null) return false;
  return may(viewer, 'update_job', project) && (await mayRun({ db: tx.db, viewer }, project, job.id));
};

/** Stops an expired environment on behalf of the user who deployed. If they can no longer run the job, it stays. */
export const stopWhenExpired = async (
  tx: Tx,
  row: EnvironmentRow,
  { play, mayRun }: Pick<JobRunner, 'play' | 'mayRun'>,
): Promise<EnvironmentRow> => {
  const job = await findStopJob(tx.db, row.id);
  if (job?.status !== 'manual') {
    return await updateState(
      tx,
      row,
      job !== null && activeStatuses.has(job.status) ? 'stopping' : 'stopped',
    );
  }
  if (job.user_id === null || !(await canPlay(tx, job, row.project_id, mayRun))) {
    return await updateState(tx, row, 'available');
  }
  await play(tx, job.id, job.user_id);
  return await updateState(tx, row, 'stopping');
};
