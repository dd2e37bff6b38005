/** Job functions for the environments folder, which cannot import jobs because it comes first in import order. */
import type { Call } from '../../core/access/call.ts';
import type { JobFunctions } from '../environments/routes.ts';
import { playJob } from '../pipelines/processing/job_transitions.ts';
import type { Project } from '../../projects/projects/find.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { mayRunJobsOn } from '../pipelines/creation/creation_rights.ts';
import { findJobToRun, loadAnyJob } from './find.ts';
import { jobsJson } from './json.ts';
import { jobColumns } from './rows.ts';

const loadJobsById = async (call: Call, project: Project, ids: readonly number[]) => {
  if (ids.length === 0) return new Map<number, object>();
  const rows = await call.db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
  const code = { project, repository: getRepository(call.platform, project) };
  const jobs = await jobsJson(call, code, rows);
  return new Map(jobs.map((json) => [json.id, json]));
};

export const jobFunctions: JobFunctions = {
  show: loadJobsById,
  check: async (call, project, jobId) => void (await findJobToRun(call, project.id, jobId)),
  play: playJob,
  mayRun: async (by, project, jobId) =>
    await mayRunJobsOn(by, project, await loadAnyJob(by.db, project.id, jobId)),
};
