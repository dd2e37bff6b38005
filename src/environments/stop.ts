/** An environment is stopped by the job that its deployment names for that, or else at once. */
import { actingViewer } from '../access/acting.ts';
import { type Call, userOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Reader, Tx } from '../db/open.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { type Environment, environmentOfJob } from './config.ts';
import { noteEnvironment } from './change.ts';
import { type EnvironmentRow, findEnvironment, lastDeployment, lockEnvironment } from './queries.ts';

export type StopJob = { id: number; pipeline_id: number; status: string };

/** With him who deployed. */
type StoppedBy = StopJob & { user_id: number | null };

/** How jobs are played: whoever mounts the endpoints hands it, for jobs stand behind environments. */
export type PlayJobs = {
  /** @throws Failure 403 where the caller may not play this one */
  check: (call: Call, project: Project, jobId: number) => Promise<void>;
  play: (tx: Tx, jobId: number, userId: number) => Promise<unknown>;
  /** Whether somebody who may run jobs there may run this one: its branch or tag may be protected from him. */
  mayRun: (by: { db: Reader; viewer: Viewer }, project: Project, jobId: number) => Promise<boolean>;
};

/** On its way already. */
const waiting = new Set(['pending', 'running', 'waiting_for_resource']);

const onStopOf = async (db: Reader, deploymentJobId: number) => {
  const job = await db
    .selectFrom('jobs')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select(['jobs.pipeline_id', 'job_configs.config'])
    .where('jobs.id', '=', deploymentJobId)
    .executeTakeFirst();
  const environment: Environment | null = job === undefined ? null : environmentOfJob(job.config);
  return { pipeline_id: job?.pipeline_id ?? 0, name: environment?.on_stop ?? null };
};

/** The job that stops what was last deployed there; null: none does. */
export const stopJobOf = async (db: Reader, environmentId: number): Promise<StoppedBy | null> => {
  const last = await lastDeployment(db, environmentId);
  if (last === null || last.job_id === null) return null;
  const { pipeline_id, name } = await onStopOf(db, last.job_id);
  if (name === null) return null;
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'pipeline_id', 'status'])
    .where('pipeline_id', '=', pipeline_id)
    .where('name', '=', name)
    .where('retried', '=', 0)
    .executeTakeFirst();
  return job === undefined ? null : { ...job, user_id: last.user_id };
};

const setState = async (
  tx: Tx,
  { project_id, id }: EnvironmentRow,
  state: EnvironmentRow['state'],
): Promise<EnvironmentRow> => {
  // The job's pipeline is locked before it, as where a job ends.
  const row = await lockEnvironment(tx, project_id, id);
  const changed = { state, auto_stop_at: null, updated_at: tx.now };
  await tx.db.updateTable('environments').set(changed).where('id', '=', id).execute();
  return { ...row, ...changed };
};

/** @param force stop it without the job */
export const stopEnvironment = async (
  call: Call,
  project: Project,
  { id, force }: { id: number; force: boolean },
  { check, play }: PlayJobs,
): Promise<EnvironmentRow> => {
  const found = await findEnvironment(call.db, project.id, id);
  const job = force ? null : await stopJobOf(call.db, id);
  if (job?.status === 'manual') await check(call, project, job.id);
  return await call.write(async (tx) => {
    const row = await findEnvironment(tx.db, project.id, id);
    if (row.state === 'stopped') return row;
    if (job?.status === 'manual') await play(tx, job.id, userOf(call).id);
    const isLater = job !== null && (job.status === 'manual' || waiting.has(job.status));
    const stopped = await setState(tx, row, isLater ? 'stopping' : 'stopped');
    await noteEnvironment(call, tx, 'stopped', found);
    return stopped;
  });
};

/** Whether a user, such as one who deployed once, may still run the job. */
const mayPlay = async (tx: Tx, job: StoppedBy, projectId: number, mayRun: PlayJobs['mayRun']) => {
  const viewer = await actingViewer(tx.db, job.user_id ?? 0, tx.now);
  const project = await loadProject(tx.db, projectId);
  if (viewer === null || project === null) return false;
  return may(viewer, 'update_job', project) && (await mayRun({ db: tx.db, viewer }, project, job.id));
};

/** Stops one whose time is over, by whoever deployed it; it stays where he may run nothing any more. */
export const stopInTime = async (
  tx: Tx,
  row: EnvironmentRow,
  { play, mayRun }: Pick<PlayJobs, 'play' | 'mayRun'>,
): Promise<EnvironmentRow> => {
  const job = await stopJobOf(tx.db, row.id);
  if (job?.status !== 'manual') {
    return await setState(tx, row, job !== null && waiting.has(job.status) ? 'stopping' : 'stopped');
  }
  if (job.user_id === null || !(await mayPlay(tx, job, row.project_id, mayRun))) {
    return await setState(tx, row, 'available');
  }
  await play(tx, job.id, job.user_id);
  return await setState(tx, row, 'stopping');
};
