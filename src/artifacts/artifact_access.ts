/** `artifacts: access`, `artifacts: public`: for whom the file says that they are, beside jobs of the same pipeline. */
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Artifacts } from '../ci_file/plan_types.ts';
import { forbidden } from '../errors.ts';
import { jobById, jobConfigOf } from '../pipelines/store.ts';
import type { Project } from '../projects/find.ts';

type Asking = Pick<Call, 'db' | 'viewer'>;

/** Whether what a job left is for one who may read the job; `access` as the file says it, null where it does not. */
export const isForCaller = (
  { viewer }: Pick<Asking, 'viewer'>,
  project: Project,
  access: Artifacts['access'],
): boolean => {
  switch (access) {
    case 'none':
      return false;
    case 'maintainer':
      return may(viewer, 'read_masters_artifact', project);
    case 'developer':
      // Jobs of the project are run by developers, whatever their tokens may besides.
      return viewer.job?.project_id === project.id || may(viewer, 'read_members_artifact', project);
    default:
      return true;
  }
};

/** Whether what the job left is for one who may read the job. */
export const hasArtifactAccess = async (
  asking: Asking,
  project: Project,
  jobId: number,
): Promise<boolean> => {
  const [job] = await jobById(asking.db, { id: jobId });
  const access = job === undefined ? null : (await jobConfigOf(asking.db, job)).artifacts?.access;
  return isForCaller(asking, project, access ?? null);
};

/** @throws Failure 403 where what the job left is not for the caller */
export const requireArtifactAccess = async (call: Call, project: Project, jobId: number): Promise<void> => {
  if (!(await hasArtifactAccess(call, project, jobId))) throw forbidden();
};
