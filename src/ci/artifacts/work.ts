import type { Platform } from '../../core/platform.ts';
import { dropWork } from '../pipelines/job_file_cleanup.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { deleteJobFiles } from './delete_job_files.ts';
import { expireProject, expireProjectWork } from './store/expiry.ts';

export const artifactWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [dropWork]: async (payload) => await deleteJobFiles(platform, payload),
  [expireProjectWork]: async (payload) => await expireProject(platform, payload),
});
