import type { Platform } from '../../core/platform.ts';
import { jobFileDeletionWork } from '../pipelines/enqueue_job_file_deletion.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { deleteJobFiles } from './delete_job_files.ts';
import { expireProject, expireProjectWork } from './store/expire_artifacts.ts';

export const artifactWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [jobFileDeletionWork]: async (payload) => await deleteJobFiles(platform, payload),
  [expireProjectWork]: async (payload) => await expireProject(platform, payload),
});
