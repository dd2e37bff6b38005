/**
 * The visibility rule in both of its forms: a predicate over loaded rows, and the same as SQL. Lists and single
 * lookups use the SQL form. A property test checks that both agree. Hidden records answer 404.
 */
import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { FeatureLevel, Visibility } from '../../platform/db/schema/column_types.ts';
import { levels } from './levels.ts';
import { type ProjectFacts, type Viewer, getProjectLevel, getSourcesAtLeast } from './viewer.ts';

type Condition = RawBuilder<boolean>;

const always: Condition = sql<boolean>`1 = 1`;
const never: Condition = sql<boolean>`1 = 0`;

export const allOf = (conditions: Condition[]): Condition =>
  sql<boolean>`(${sql.join(conditions, sql` and `)})`;
export const anyOf = (conditions: Condition[]): Condition =>
  sql<boolean>`(${sql.join(conditions, sql` or `)})`;

/** ---- projects and groups: visible to everyone of a kind, or to members ---- */

const openVisibilities = (viewer: Viewer): Visibility[] => {
  if (viewer.user_id === null || viewer.external) return ['public'];
  return ['public', 'internal'];
};

/** Returns whether a viewer who is not a member may see something of this visibility. */
export const isOpenTo = (viewer: Viewer, visibility: Visibility): boolean =>
  openVisibilities(viewer).includes(visibility);

export const canSeeProject = (viewer: Viewer, project: ProjectFacts): boolean =>
  project.deleted_at === null &&
  (viewer.job === undefined || viewer.job.levels.has(project.id)) &&
  (viewer.admin || isOpenTo(viewer, project.visibility) || getProjectLevel(viewer, project) > 0);

/** Over a query with the table `projects`: the viewer has at least `level` in the project or its namespace. */
const inSources = (viewer: Viewer, level: number, dialect: SqlDialect): Condition => {
  if (viewer.admin) return always;
  const { projects, namespaces } = getSourcesAtLeast(viewer, level);
  const parts: Condition[] = [];
  if (projects.length > 0) parts.push(dialect.oneOf('projects.id', projects));
  if (namespaces.length > 0) parts.push(dialect.oneOf('projects.namespace_id', namespaces));
  return parts.length === 0 ? never : anyOf(parts);
};

/** Over a query with the table `projects`: projects in which the viewer has at least a role. */
export const projectsAtLeast = inSources;

/** Over a query with the table `projects`: projects that the viewer may see. */
export const visibleProjects = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const alive = sql<boolean>`projects.deleted_at is null`;
  if (viewer.admin) return alive;
  const open = sql<boolean>`projects.visibility in (${sql.join(openVisibilities(viewer))})`;
  const { job } = viewer;
  const reached = job === undefined ? [] : [dialect.oneOf('projects.id', [...job.levels.keys()])];
  return allOf([alive, ...reached, anyOf([open, inSources(viewer, levels.guest, dialect)])]);
};

/* ---- features of a project ---- */

export type Feature =
  | 'issues_access_level'
  | 'merge_requests_access_level'
  | 'builds_access_level'
  | 'repository_access_level'
  | 'snippets_access_level'
  | 'forking_access_level'
  | 'releases_access_level'
  | 'environments_access_level'
  | 'container_registry_access_level';

/** Returns whether a feature of a visible project is enabled for the viewer. */
export const hasFeature = (
  viewer: Viewer,
  project: ProjectFacts & { [F in Feature]?: FeatureLevel },
  feature: Feature,
): boolean => {
  const setting = project[feature];
  if (setting === 'private') return viewer.admin || getProjectLevel(viewer, project) > 0;
  return setting === 'enabled';
};

/** Over `projects` that the viewer sees: the feature is enabled for the viewer. */
export const visibleFeature = (viewer: Viewer, feature: Feature, dialect: SqlDialect): Condition => {
  const column = sql.ref(`projects.${feature}`);
  if (viewer.admin) return sql<boolean>`${column} <> 'disabled'`;
  const membersOnly = allOf([sql<boolean>`${column} = 'private'`, inSources(viewer, levels.guest, dialect)]);
  return anyOf([sql<boolean>`${column} = 'enabled'`, membersOnly]);
};

/* ---- issues ---- */

type IssueFacts = { id: number; author_id: number; confidential: number; deleted_at: number | null };

/** Returns whether the viewer may see every confidential issue of the project. */
export const canSeeConfidential = (viewer: Viewer, project: { id: number; namespace_id: number }): boolean =>
  getProjectLevel(viewer, project) >= levels.reporter;

export const canSeeIssue = (
  viewer: Viewer,
  project: ProjectFacts & { issues_access_level: FeatureLevel },
  issue: IssueFacts & { assignee_ids: number[] },
): boolean => {
  if (issue.deleted_at !== null || !canSeeProject(viewer, project)) return false;
  if (!hasFeature(viewer, project, 'issues_access_level')) return false;
  if (issue.confidential === 0 || canSeeConfidential(viewer, project)) return true;
  return viewer.user_id !== null && [issue.author_id, ...issue.assignee_ids].includes(viewer.user_id);
};

/** Over `issues`: the viewer is the author or an assignee. */
export const ownIssue = (viewer: Viewer): Condition =>
  viewer.user_id === null
    ? never
    : anyOf([
        sql<boolean>`issues.author_id = ${viewer.user_id}`,
        sql<boolean>`exists (select 1 from assignees where assignees.target_type = 'Issue'
          and assignees.target_id = issues.id and assignees.user_id = ${viewer.user_id})`,
      ]);

const alive = sql<boolean>`issues.deleted_at is null`;

/** Over a query that joins `issues` with `projects`: issues of any project that the viewer may see. */
export const visibleIssues = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const notConfidential = sql<boolean>`issues.confidential = 0`;
  const feature = visibleFeature(viewer, 'issues_access_level', dialect);
  if (viewer.admin) return allOf([alive, visibleProjects(viewer, dialect), feature]);
  const open = anyOf([notConfidential, inSources(viewer, levels.reporter, dialect), ownIssue(viewer)]);
  return allOf([alive, visibleProjects(viewer, dialect), feature, open]);
};

/** Over `issues` of one project whose issues the viewer may see: the rest of the visibility rule. */
export const visibleIssuesIn = (viewer: Viewer, project: { id: number; namespace_id: number }): Condition => {
  const ofProject = sql<boolean>`issues.project_id = ${project.id}`;
  if (canSeeConfidential(viewer, project)) return allOf([ofProject, alive]);
  return allOf([ofProject, alive, anyOf([sql<boolean>`issues.confidential = 0`, ownIssue(viewer)])]);
};

/* ---- internal comments ---- */

/** Over `notes`: not internal, or the viewer is a reporter of its project, as `internal_note` requires. */
export const visibleInternalNotes = (viewer: Viewer, dialect: SqlDialect): Condition =>
  viewer.admin
    ? always
    : sql<boolean>`(notes.internal = 0 or exists (select 1 from projects
        where projects.id = notes.project_id and ${inSources(viewer, levels.reporter, dialect)}))`;

/* ---- code and merge requests ---- */

type CodeFacts = ProjectFacts & { repository_access_level?: FeatureLevel };

/** Returns whether the viewer may read the project's code. If code is private, this needs the role of reporter. */
export const canReadCode = (viewer: Viewer, project: CodeFacts): boolean =>
  canSeeProject(viewer, project) &&
  hasFeature(viewer, project, 'repository_access_level') &&
  (isOpenTo(viewer, project.visibility) || getProjectLevel(viewer, project) >= levels.reporter);

/** Over `projects`: the viewer may read the code. */
export const readableCode = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const open = sql<boolean>`projects.visibility in (${sql.join(openVisibilities(viewer))})`;
  return allOf([
    visibleProjects(viewer, dialect),
    visibleFeature(viewer, 'repository_access_level', dialect),
    ...(viewer.admin ? [] : [anyOf([open, inSources(viewer, levels.reporter, dialect)])]),
  ]);
};

/** Over `projects`: the viewer may read pipelines and jobs, as `read_pipeline` requires. */
export const readablePipelines = (viewer: Viewer, dialect: SqlDialect): Condition =>
  allOf([
    visibleProjects(viewer, dialect),
    visibleFeature(viewer, 'builds_access_level', dialect),
    visibleFeature(viewer, 'repository_access_level', dialect),
    anyOf([sql<boolean>`projects.public_builds = 1`, inSources(viewer, levels.reporter, dialect)]),
  ]);

/** Over `projects`: the viewer may read environments and deployments, as `read_environment` requires. */
export const readableEnvironments = (viewer: Viewer, dialect: SqlDialect): Condition =>
  allOf([
    visibleProjects(viewer, dialect),
    inSources(viewer, levels.reporter, dialect),
    ...(['builds_access_level', 'repository_access_level', 'environments_access_level'] as const).map(
      (feature) => visibleFeature(viewer, feature, dialect),
    ),
  ]);

/**
 * Returns whether the viewer sees the project's merge requests: requires read access to code and the feature enabled.
 */
export const canSeeMergeRequests = (
  viewer: Viewer,
  project: CodeFacts & { merge_requests_access_level?: FeatureLevel },
): boolean => canReadCode(viewer, project) && hasFeature(viewer, project, 'merge_requests_access_level');

/** Over a query that joins `merge_requests` with `projects` (the target): merge requests that the viewer may see. */
export const visibleMergeRequests = (viewer: Viewer, dialect: SqlDialect): Condition =>
  allOf([
    sql<boolean>`merge_requests.deleted_at is null`,
    readableCode(viewer, dialect),
    visibleFeature(viewer, 'merge_requests_access_level', dialect),
  ]);
