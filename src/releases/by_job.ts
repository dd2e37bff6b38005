/** Releases by the token of a job: of its own project alone, as the job's user may. */
import type { Call } from '../access/call.ts';
import { changingOwn } from '../access/job_token.ts';
import { loadProject } from '../projects/find.ts';

/** Others are as they were. */
export const asReleaser = async (call: Call): Promise<Call> => {
  const { job } = call.viewer;
  const project = job === undefined ? null : await loadProject(call.db, job.project_id);
  if (job === undefined || project === null) return call;
  return { ...call, viewer: changingOwn(call.viewer, job, project) };
};
