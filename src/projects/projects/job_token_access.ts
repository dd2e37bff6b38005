/**
 * Decides which other projects a job may access: projects whose allowlist names its project or a parent group, and
 * projects without an allowlist. There it may read what its user may read. Public projects are readable by every job.
 */
import type { Selectable } from 'kysely';
import { getJobLevel } from '../../core/access/credentials/job_token.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { ProjectsTable } from '../../platform/db/schema/projects.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';

type Pair = { project_id: number; of_project: number; of_namespace: number };

const listed = compiled((db, { project_id, of_project, of_namespace }: Pair) =>
  db
    .selectFrom('job_token_projects')
    .select('project_id')
    .where('project_id', '=', project_id)
    .where('target_project_id', '=', of_project)
    .unionAll(
      db
        .selectFrom('job_token_groups')
        .select('project_id')
        .where('project_id', '=', project_id)
        .where('target_group_id', 'in', selectAncestors(of_namespace)),
    )
    .limit(1)
    .compile(),
);

const selectNamespace = compiled((db, { id }: { id: number }) =>
  db.selectFrom('projects').select('namespace_id').where('id', '=', id).compile(),
);

type Project = Selectable<ProjectsTable>;
type TargetProject = Pick<Project, 'id' | 'job_token_list_enabled'>;

/** Returns whether a project admits jobs of another project, whatever their users may do. */
export const admitsJobs = async (
  db: Reader,
  project: TargetProject,
  jobProjectId: number,
): Promise<boolean> => {
  if (project.id === jobProjectId || project.job_token_list_enabled === 0) return true;
  const [own] = await selectNamespace(db, { id: jobProjectId });
  if (own === undefined) return false;
  const pair = { project_id: project.id, of_project: jobProjectId, of_namespace: own.namespace_id };
  return (await listed(db, pair)).length > 0;
};

/** Lets a job see the project if it is admitted. Does nothing for other callers. */
export const admitJob = async (db: Reader, { job }: Viewer, project: Project): Promise<void> => {
  if (job === undefined || job.levels.has(project.id)) return;
  if (await admitsJobs(db, project, job.project_id)) {
    job.levels.set(project.id, getJobLevel(job.user, project));
  } else if (project.visibility === 'public') job.levels.set(project.id, 0);
};
