import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { loadCreator, mayRunJobsOn } from '../creation/creation_rights.ts';

/**
 * Returns whether a user who restarts a pipeline can reopen the upstream job that started it. That job may be in a
 * project where the user has no permissions.
 */
export const canReopenUpstream = async (
  platform: Platform,
  job_id: number,
  userId: number,
): Promise<boolean> => {
  const { db } = platform.store;
  const job = await db
    .selectFrom('jobs')
    .select(['project_id', 'ref', 'tag'])
    .where('id', '=', job_id)
    .executeTakeFirst();
  const [creator, project] = await Promise.all([
    loadCreator(platform, userId),
    job === undefined ? null : loadProject(db, job.project_id),
  ]);
  if (job === undefined || creator === null || project === null) return false;
  const { viewer } = creator;
  return may(viewer, 'update_job', project) && (await mayRunJobsOn({ db, viewer }, project, job));
};
