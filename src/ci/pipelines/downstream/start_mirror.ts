/** Makes a job mirror the newest pipeline of another project's default branch (`needs: pipeline`). */
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import { expandVariables } from '../../ci_file/syntax/expand_variables.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { advanceLockedPipeline } from '../processing/advance_pipeline.ts';
import { findVisibleProject } from './resolve_target.ts';
import { loadBridgeValues } from './forwarded_variables.ts';
import { changeJob, failJob } from '../processing/job_transitions.ts';
import { setStatus } from '../processing/set_job_statuses.ts';
import { loadCreator } from '../creation/creation_rights.ts';
import { type Job, lockJob } from '../pipeline_rows.ts';

/** The mirrored pipeline, or the failure reason. `pipeline_id` is null while the project has none. */
type MirrorTarget = { pipeline_id: number | null } | { reason: string };

/** Finds the newest pipeline of the default branch, except the job's own, which would wait for itself. */
const findNewestPipelineId = async (
  db: Reader,
  project: { id: number; default_branch: string | null },
  own: number,
) => {
  const newest = await db
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
  return newest?.id ?? null;
};

const resolveMirrorTarget = async (platform: Platform, job: Job, path: string): Promise<MirrorTarget> => {
  const { db } = platform.store;
  const creator = job.user_id === null ? null : await loadCreator(platform, job.user_id);
  if (creator === null) return { reason: 'insufficient_upstream_permissions' };
  const projectPath = expandVariables(path, await loadBridgeValues(platform, job)).replace(/^\//, '');
  const project = await findVisibleProject(platform, creator, projectPath);
  if (project === null) return { reason: 'upstream_bridge_project_not_found' };
  if (!may(creator.viewer, 'read_pipeline', project)) return { reason: 'insufficient_upstream_permissions' };
  return { pipeline_id: await findNewestPipelineId(db, project, job.pipeline_id) };
};

const applyMirrorTarget = async (tx: Tx, id: number, mirrored: MirrorTarget): Promise<void> => {
  const locked = await lockJob(tx, id);
  if (locked === null || locked.job.status !== 'pending') return;
  if ('reason' in mirrored) await failJob(tx, id, mirrored.reason);
  else if (mirrored.pipeline_id === null) {
    await setStatus(tx, [locked.job], 'skipped');
    await advanceLockedPipeline(tx, locked.pipeline);
  } else await changeJob(tx, locked.job, { mirrored_pipeline_id: mirrored.pipeline_id });
};

/** Stores which pipeline the job mirrors, before its status is read, so that no change is missed. Idempotent. */
export const startMirror = async (platform: Platform, job: Job, path: string): Promise<void> => {
  const mirrored = await resolveMirrorTarget(platform, job, path);
  await platform.store.write(async (tx) => await applyMirrorTarget(tx, job.id, mirrored));
};
