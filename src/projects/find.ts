import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import { type ProjectAction, may } from '../access/may.ts';
import { canSeeProject } from '../access/visible.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { ProjectCountersTable, ProjectsTable } from '../db/schema.ts';
import { forbidden, notFound } from '../errors.ts';
import { idByOldPath } from '../namespaces/redirects.ts';
import { reach } from './job_reach.ts';

/** A project with its counters, which most who load it need. */
export type Project = Selectable<ProjectsTable> & Omit<Selectable<ProjectCountersTable>, 'project_id'>;

const selectProjects = (db: Reader) =>
  db
    .selectFrom('projects')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .selectAll();

const projectById = compiled((db, { id }: { id: number }) =>
  selectProjects(db).where('id', '=', id).compile(),
);

const projectByPath = compiled((db, { path }: { path: string }) =>
  selectProjects(db)
    .where('id', '=', (from) =>
      from
        .selectFrom('routes')
        .select('source_id')
        .where('path', '=', path)
        .where('source_type', '=', 'Project'),
    )
    .compile(),
);

const projectAt = async (db: Reader, path: string): Promise<Project | undefined> => {
  const [found] = await projectByPath(db, { path: path.toLowerCase() });
  if (found !== undefined) return found;
  const id = await idByOldPath(db, 'Project', path);
  return id === null ? undefined : (await projectById(db, { id }))[0];
};

/**
 * A project by id or full path (in any case), also by one that it had before, whoever sees it; null: there is none, or
 * it is going.
 */
export const anyProject = async ({ db }: Pick<Call, 'db'>, id: number | string): Promise<Project | null> => {
  const found = typeof id === 'number' ? (await projectById(db, { id }))[0] : await projectAt(db, id);
  return found === undefined || found.deleted_at !== null ? null : found;
};

/** A project by id or full path (in any case). Hidden and missing are alike: 404 `404 Project Not Found`. */
export const findProject = async (
  call: Pick<Call, 'db' | 'viewer'>,
  id: number | string,
): Promise<Project> => {
  const found = await anyProject(call, id);
  if (found !== null) await reach(call.db, call.viewer, found);
  if (found === null || !canSeeProject(call.viewer, found)) throw notFound('Project');
  return found;
};

/** A project for work that nobody's request does: whoever sees it; null: it is gone. */
export const loadProject = async (db: Reader, id: number): Promise<Project | null> =>
  await anyProject({ db }, id);

/** Projects by id, whoever sees them. */
export const projectsById = async (db: Reader, ids: readonly number[]): Promise<Map<number, Project>> => {
  const rows = await selectProjects(db).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
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
