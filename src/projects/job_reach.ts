/**
 * Which projects a job reaches beside its own: those whose list names its project or a group above that, and those that
 * have switched their list off; there it may what its user may, and only read. What is public it reads as anybody does.
 */
import type { Selectable } from 'kysely';
import { jobLevel } from '../access/job_token.ts';
import type { Viewer } from '../access/viewer.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { ProjectsTable } from '../db/schema.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';

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
        .where('target_group_id', 'in', ancestorsOf(of_namespace)),
    )
    .limit(1)
    .compile(),
);

const namespaceOf = compiled((db, { id }: { id: number }) =>
  db.selectFrom('projects').select('namespace_id').where('id', '=', id).compile(),
);

type Project = Selectable<ProjectsTable>;
type Asked = Pick<Project, 'id' | 'job_token_list_enabled'>;

/** Whether a project lets in jobs of another, whatever their users may. */
export const letsInJobsOf = async (db: Reader, project: Asked, jobProjectId: number): Promise<boolean> => {
  if (project.id === jobProjectId || project.job_token_list_enabled === 0) return true;
  const [own] = await namespaceOf(db, { id: jobProjectId });
  if (own === undefined) return false;
  const pair = { project_id: project.id, of_project: jobProjectId, of_namespace: own.namespace_id };
  return (await listed(db, pair)).length > 0;
};

/** Has a job see the project if it may; does nothing for others. */
export const reach = async (db: Reader, { job }: Viewer, project: Project): Promise<void> => {
  if (job === undefined || job.levels.has(project.id)) return;
  if (await letsInJobsOf(db, project, job.project_id)) {
    job.levels.set(project.id, jobLevel(job.user, project));
  } else if (project.visibility === 'public') job.levels.set(project.id, 0);
};
