import type { Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import { loadProject } from '../projects/find.ts';
import { makerOf, mayRunOn } from './rights.ts';

/**
 * Whether who has a pipeline run again may have the job run again that has started it, and what was skipped behind it:
 * that may be in a project where he may nothing.
 */
export const mayReopen = async (platform: Platform, job_id: number, userId: number): Promise<boolean> => {
  const { db } = platform.store;
  const job = await db
    .selectFrom('jobs')
    .select(['project_id', 'ref', 'tag'])
    .where('id', '=', job_id)
    .executeTakeFirst();
  const [maker, project] = await Promise.all([
    makerOf(platform, userId),
    job === undefined ? null : loadProject(db, job.project_id),
  ]);
  if (job === undefined || maker === null || project === null) return false;
  const { viewer } = maker;
  return may(viewer, 'update_job', project) && (await mayRunOn({ db, viewer }, project, job));
};
