/** Restricts job tokens to releases of the job's own project. */
import type { Call } from '../../core/access/call.ts';
import { allowOwnProjectChanges } from '../../core/access/credentials/job_token.ts';
import { loadProject } from '../../projects/projects/find.ts';

/** Returns the call with write access limited to the job's project. Calls without a job token are returned unchanged. */
export const limitToJobProject = async (call: Call): Promise<Call> => {
  const { job } = call.viewer;
  const project = job === undefined ? null : await loadProject(call.db, job.project_id);
  if (job === undefined || project === null) return call;
  return { ...call, viewer: allowOwnProjectChanges(call.viewer, job, project) };
};
