import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import { type ProjectAction, may } from '../access/may.ts';
import { visibleProjects } from '../access/visible.ts';
import type { ProjectCountersTable, ProjectsTable } from '../db/schema.ts';
import { forbidden, notFound } from '../errors.ts';

/** A project with its counters, which most who load it need. */
export type Project = Selectable<ProjectsTable> & Omit<Selectable<ProjectCountersTable>, 'project_id'>;

/** A project by id or full path (in any case). Hidden and missing are alike: 404 `404 Project Not Found`. */
export const findProject = async (call: Call, id: number | string): Promise<Project> => {
  const { db, viewer, platform } = call;
  const query = db
    .selectFrom('projects')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .selectAll()
    .where(visibleProjects(viewer, platform.store.words));
  const found = await (
    typeof id === 'number'
      ? query.where('id', '=', id)
      : query.where('id', '=', (from) =>
          from
            .selectFrom('routes')
            .select('source_id')
            .where('path', '=', id.toLowerCase())
            .where('source_type', '=', 'Project'),
        )
  ).executeTakeFirst();
  if (found === undefined) throw notFound('Project');
  return found;
};

/** The project, if the caller sees it (else 404) and may do this in it (else 403). */
export const findProjectFor = async (
  call: Call,
  id: number | string,
  action: ProjectAction,
): Promise<Project> => {
  const project = await findProject(call, id);
  if (!may(call.viewer, action, project)) throw forbidden();
  return project;
};
