/** `artifacts: access`, `artifacts: public`: for whom the file says that they are, beside jobs of the same pipeline. */
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Artifacts } from '../ci_file/plan_types.ts';
import { forbidden } from '../errors.ts';
import { jobById, jobConfigOf } from '../pipelines/store.ts';
import type { Project } from '../projects/find.ts';

const isFor = ({ viewer }: Call, project: Project, access: Artifacts['access']): boolean => {
  switch (access) {
    case 'none':
      return false;
    case 'maintainer':
      return may(viewer, 'read_masters_artifact', project);
    case 'developer':
      // Jobs of the project are run by developers, whatever their tokens may besides.
      return viewer.only === project.id || may(viewer, 'read_members_artifact', project);
    default:
      return true;
  }
};

/** @throws Failure 403 where what the job left is not for the caller */
export const requireArtifactAccess = async (call: Call, project: Project, jobId: number): Promise<void> => {
  const [job] = await jobById(call.db, { id: jobId });
  const access = job === undefined ? null : (await jobConfigOf(call.db, job)).artifacts?.access;
  if (!isFor(call, project, access ?? null)) throw forbidden();
};
