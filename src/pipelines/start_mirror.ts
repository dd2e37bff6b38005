/** A job that does nothing itself: it goes as the newest pipeline of another project's default branch does. */
import type { Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import { expand } from '../ci_file/expand.ts';
import type { Reader, Tx } from '../db/open.ts';
import { advanceLocked } from './advance.ts';
import { projectSeenBy } from './downstream_target.ts';
import { bridgeValues } from './downstream_variables.ts';
import { changeJob, dropJob } from './job_states.ts';
import { setStatus } from './move_jobs.ts';
import { makerOf } from './rights.ts';
import { type Job, lockJob } from './store.ts';

/** That pipeline; null: there is none yet. */
type Mirrored = { pipeline_id: number | null } | { reason: string };

/** Not the job's own, which would wait for itself. */
const newestOf = async (db: Reader, project: { id: number; default_branch: string | null }, own: number) => {
  const found = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project.id)
    .where('ref', '=', project.default_branch ?? '')
    .where('tag', '=', 0)
    .where('source', '<>', 'parent_pipeline')
    .where('id', '<>', own)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.id ?? null;
};

const mirroredBy = async (platform: Platform, job: Job, path: string): Promise<Mirrored> => {
  const { db } = platform.store;
  const maker = job.user_id === null ? null : await makerOf(platform, job.user_id);
  if (maker === null) return { reason: 'insufficient_upstream_permissions' };
  const named = expand(path, await bridgeValues(platform, job)).replace(/^\//, '');
  const project = await projectSeenBy(platform, maker, named);
  if (project === null) return { reason: 'upstream_bridge_project_not_found' };
  if (!may(maker.viewer, 'read_pipeline', project)) return { reason: 'insufficient_upstream_permissions' };
  return { pipeline_id: await newestOf(db, project, job.pipeline_id) };
};

const settle = async (tx: Tx, id: number, mirrored: Mirrored): Promise<void> => {
  const locked = await lockJob(tx, id);
  if (locked === null || locked.job.status !== 'pending') return;
  if ('reason' in mirrored) await dropJob(tx, id, mirrored.reason);
  else if (mirrored.pipeline_id === null) {
    await setStatus(tx, [locked.job], 'skipped');
    await advanceLocked(tx, locked.pipeline);
  } else await changeJob(tx, locked.job, { mirrored_pipeline_id: mirrored.pipeline_id });
};

/** Says which pipeline the job goes as: whoever looks at that afterwards misses nothing. Safe to be called twice. */
export const startMirror = async (platform: Platform, job: Job, path: string): Promise<void> => {
  const mirrored = await mirroredBy(platform, job, path);
  await platform.store.write(async (tx) => await settle(tx, job.id, mirrored));
};
