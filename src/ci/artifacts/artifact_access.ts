/**
 * `artifacts: access` and `artifacts: public`: the callers that the configuration lets read artifacts. Jobs of the same
 * pipeline may always read them.
 */
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Artifacts } from '../ci_file/config_types.ts';
import { forbidden } from '../../platform/errors.ts';
import { selectJobById, loadJobConfig } from '../pipelines/pipeline_rows.ts';
import type { Project } from '../../projects/projects/find.ts';

type Reader = Pick<Call, 'db' | 'viewer'>;

/**
 * Checks the `access` value of the configuration; null if the file sets none. The caller must already be allowed to
 * read the job.
 */
export const isForCaller = (
  { viewer }: Pick<Reader, 'viewer'>,
  project: Project,
  access: Artifacts['access'],
): boolean => {
  switch (access) {
    case 'none':
      return false;
    case 'maintainer':
      return may(viewer, 'read_masters_artifact', project);
    case 'developer':
      // Developers run the project's jobs, so a job token reads what developers read, whatever its scopes are.
      return viewer.job?.project_id === project.id || may(viewer, 'read_members_artifact', project);
    default:
      return true;
  }
};

/** Returns whether a caller who can read the job may read its artifacts. */
export const hasArtifactAccess = async (
  asking: Reader,
  project: Project,
  jobId: number,
): Promise<boolean> => {
  const [job] = await selectJobById(asking.db, { id: jobId });
  const access = job === undefined ? null : (await loadJobConfig(asking.db, job)).artifacts?.access;
  return isForCaller(asking, project, access ?? null);
};

/** @throws Failure 403 if the caller may not read the artifacts */
export const requireArtifactAccess = async (call: Call, project: Project, jobId: number): Promise<void> => {
  if (!(await hasArtifactAccess(call, project, jobId))) throw forbidden();
};
