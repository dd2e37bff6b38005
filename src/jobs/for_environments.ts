/** What environments, which stand before jobs, are handed of them. */
import type { Call } from '../access/call.ts';
import type { JobParts } from '../environments/routes.ts';
import { playJob } from '../pipelines/job_states.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { mayRunOn } from '../pipelines/rights.ts';
import { findJobToRun, loadAnyJob } from './find.ts';
import { jobsJson } from './json.ts';
import { jobColumns } from './rows.ts';

const show = async (call: Call, project: Project, ids: readonly number[]) => {
  if (ids.length === 0) return new Map<number, object>();
  const rows = await call.db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
  const code = { project, repository: repositoryOf(call.platform, project) };
  const shown = await jobsJson(call, code, rows);
  return new Map(shown.map((json) => [json.id, json]));
};

export const jobParts: JobParts = {
  show,
  check: async (call, project, jobId) => void (await findJobToRun(call, project.id, jobId)),
  play: playJob,
  mayRun: async (by, project, jobId) =>
    await mayRunOn(by, project, await loadAnyJob(by.db, project.id, jobId)),
};
