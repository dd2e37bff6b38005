import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { type ProjectAction, may } from '../../core/access/may.ts';
import { canSeeProject, visibleProjects } from '../../core/access/visible.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../platform/db/keep_until_change.ts';
import type { Reader } from '../../platform/db/open.ts';
import { noteProject } from '../../platform/db/statement_meter.ts';
import type { ProjectCountersTable, ProjectsTable } from '../../platform/db/schema/projects.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { findIdByOldPath } from '../../identity/namespaces/redirects.ts';
import { admitJob } from './job_token_access.ts';

/** A project with its counters, which most callers need. Callers share it. */
export type Project = Readonly<
  Selectable<ProjectsTable> & Omit<Selectable<ProjectCountersTable>, 'project_id'>
>;

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

/** Projects in memory, by id and by path. */
const maxProjects = 1_000;

const keepProject = keepUntilChange<Project | undefined>(
  ['projects', 'project_counters', 'routes'],
  maxProjects,
);

/** Projects of which the counters may have changed since: each write in a project changes some. */
const keepBase = keepUntilChange<Project | undefined>(['projects', 'routes'], maxProjects);

const countersById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('project_counters').selectAll().where('project_id', '=', id).compile(),
);

/** @param load reads the whole project in one statement */
const findKept = async (
  db: Reader,
  key: string,
  load: () => Promise<Project[]>,
): Promise<Project | undefined> =>
  await keepProject(db, key, async () => {
    let loaded: Project | undefined;
    const base = await keepBase(db, key, async () => {
      [loaded] = await load();
      return loaded;
    });
    if (base === undefined || base === loaded) return base;
    const [counters] = await countersById(db, { id: base.id });
    // Assigned to a copy that has these properties: V8 turns objects that grow into hash tables.
    return counters === undefined ? undefined : Object.assign({ ...base }, counters);
  });

const projectWithId = async (db: Reader, id: number): Promise<Project | undefined> =>
  await findKept(db, String(id), async () => await projectById(db, { id }));

const projectAt = async (db: Reader, path: string): Promise<Project | undefined> => {
  const lower = path.toLowerCase();
  const project = await findKept(db, `/${lower}`, async () => await projectByPath(db, { path: lower }));
  if (project !== undefined) return project;
  const id = await findIdByOldPath(db, 'Project', path);
  return id === null ? undefined : await projectWithId(db, id);
};

/**
 * Loads a project by id, or by its current or a former full path in any case, without authorization; null if it does
 * not exist or is being removed.
 */
export const anyProject = async ({ db }: Pick<Call, 'db'>, id: number | string): Promise<Project | null> => {
  const project = typeof id === 'number' ? await projectWithId(db, id) : await projectAt(db, id);
  return project === undefined || project.deleted_at !== null ? null : project;
};

/**
 * Loads a visible project by id or full path, in any case. @throws Failure 404 `404 Project Not Found`, also for a
 * hidden one
 */
export const findProject = async (
  call: Pick<Call, 'db' | 'viewer'>,
  id: number | string,
): Promise<Project> => {
  const project = await anyProject(call, id);
  if (project !== null) await admitJob(call.db, call.viewer, project);
  if (project === null || !canSeeProject(call.viewer, project)) throw notFound('Project');
  noteProject(project.id);
  return project;
};

/** Loads the projects of these current full paths that the caller sees, by path in lower case. */
export const visibleProjectsByPath = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  paths: readonly string[],
): Promise<Map<string, Project>> => {
  if (paths.length === 0) return new Map();
  const { dialect } = platform.store;
  const rows = await selectProjects(db)
    .where('projects.id', 'in', (from) =>
      from
        .selectFrom('routes')
        .select('source_id')
        .where(dialect.oneOf('routes.path', paths))
        .where('source_type', '=', 'Project'),
    )
    .where(visibleProjects(viewer, dialect))
    .execute();
  return new Map(rows.map((row) => [row.full_path.toLowerCase(), row]));
};

/** Loads a project for background work, without authorization; null if it is removed. */
export const loadProject = async (db: Reader, id: number): Promise<Project | null> =>
  await anyProject({ db }, id);

/** Loads projects by id, without authorization. */
export const projectsById = async (db: Reader, ids: readonly number[]): Promise<Map<number, Project>> => {
  const rows = await selectProjects(db).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
};

/** Loads a project and authorizes the action. @throws Failure 404 for a hidden one, 403 without the right */
export const findProjectFor = async (
  call: Call,
  id: number | string,
  action: ProjectAction,
): Promise<Project> => {
  const project = await findProject(call, id);
  if (!may(call.viewer, action, project)) throw forbidden();
  return project;
};
