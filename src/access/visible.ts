/**
 * The visibility rule, once, in both of its forms: a predicate over loaded rows and the same as SQL. Lists and
 * single finds use the SQL form; a property test holds the two together. What is hidden does not exist.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Words } from '../db/engine.ts';
import type { FeatureLevel, Visibility } from '../db/schema.ts';
import { levels } from './levels.ts';
import { type ProjectFacts, type Viewer, projectLevel, sourcesAtLeast } from './viewer.ts';

type Condition = RawBuilder<boolean>;

const always: Condition = sql<boolean>`1 = 1`;
const never: Condition = sql<boolean>`1 = 0`;

export const allOf = (conditions: Condition[]): Condition =>
  sql<boolean>`(${sql.join(conditions, sql` and `)})`;
export const anyOf = (conditions: Condition[]): Condition =>
  sql<boolean>`(${sql.join(conditions, sql` or `)})`;

/* ---- projects and groups: open to everybody of a kind, or to members ---- */

const openVisibilities = (viewer: Viewer): Visibility[] => {
  if (viewer.user_id === null || viewer.external) return ['public'];
  return ['public', 'internal'];
};

/** Whether one who is no member may see something of this visibility. */
export const isOpenTo = (viewer: Viewer, visibility: Visibility): boolean =>
  openVisibilities(viewer).includes(visibility);

export const canSeeProject = (viewer: Viewer, project: ProjectFacts): boolean =>
  project.deleted_at === null &&
  (viewer.job === undefined || viewer.job.levels.has(project.id)) &&
  (viewer.admin || isOpenTo(viewer, project.visibility) || projectLevel(viewer, project) > 0);

/** Over a query that has the table `projects`: its id and namespace are among the given. */
const inSources = (viewer: Viewer, level: number, words: Words): Condition => {
  if (viewer.admin) return always;
  const { projects, namespaces } = sourcesAtLeast(viewer, level);
  const parts: Condition[] = [];
  if (projects.length > 0) parts.push(words.oneOf('projects.id', projects));
  if (namespaces.length > 0) parts.push(words.oneOf('projects.namespace_id', namespaces));
  return parts.length === 0 ? never : anyOf(parts);
};

/** Projects in which the viewer has at least a role: over the table `projects`. */
export const projectsAtLeast = inSources;

/** Over a query that has the table `projects`. */
export const visibleProjects = (viewer: Viewer, words: Words): Condition => {
  const alive = sql<boolean>`projects.deleted_at is null`;
  if (viewer.admin) return alive;
  const open = sql<boolean>`projects.visibility in (${sql.join(openVisibilities(viewer))})`;
  const { job } = viewer;
  const reached = job === undefined ? [] : [words.oneOf('projects.id', [...job.levels.keys()])];
  return allOf([alive, ...reached, anyOf([open, inSources(viewer, levels.guest, words)])]);
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

/** Whether a feature of a project that the viewer sees is on for him. */
export const hasFeature = (
  viewer: Viewer,
  project: ProjectFacts & { [F in Feature]?: FeatureLevel },
  feature: Feature,
): boolean => {
  const setting = project[feature];
  if (setting === 'private') return viewer.admin || projectLevel(viewer, project) > 0;
  return setting === 'enabled';
};

/** Over `projects`: those of the projects that the viewer sees whose feature is on for him. */
export const visibleFeature = (viewer: Viewer, feature: Feature, words: Words): Condition => {
  const column = sql.ref(`projects.${feature}`);
  if (viewer.admin) return sql<boolean>`${column} <> 'disabled'`;
  const membersOnly = allOf([sql<boolean>`${column} = 'private'`, inSources(viewer, levels.guest, words)]);
  return anyOf([sql<boolean>`${column} = 'enabled'`, membersOnly]);
};

/* ---- issues ---- */

type IssueFacts = { id: number; author_id: number; confidential: number; deleted_at: number | null };

/** Whether every confidential issue of the project is open to the viewer. */
export const seesConfidential = (viewer: Viewer, project: { id: number; namespace_id: number }): boolean =>
  projectLevel(viewer, project) >= levels.reporter;

export const canSeeIssue = (
  viewer: Viewer,
  project: ProjectFacts & { issues_access_level: FeatureLevel },
  issue: IssueFacts & { assignee_ids: number[] },
): boolean => {
  if (issue.deleted_at !== null || !canSeeProject(viewer, project)) return false;
  if (!hasFeature(viewer, project, 'issues_access_level')) return false;
  if (issue.confidential === 0 || seesConfidential(viewer, project)) return true;
  return viewer.user_id !== null && [issue.author_id, ...issue.assignee_ids].includes(viewer.user_id);
};

/** Over `issues`: those of which the viewer is the author or an assignee. */
export const ownIssue = (viewer: Viewer): Condition =>
  viewer.user_id === null
    ? never
    : anyOf([
        sql<boolean>`issues.author_id = ${viewer.user_id}`,
        sql<boolean>`exists (select 1 from assignees where assignees.target_type = 'Issue'
          and assignees.target_id = issues.id and assignees.user_id = ${viewer.user_id})`,
      ]);

const alive = sql<boolean>`issues.deleted_at is null`;

/** Over a query that joins `issues` with `projects`: of any project. */
export const visibleIssues = (viewer: Viewer, words: Words): Condition => {
  const notConfidential = sql<boolean>`issues.confidential = 0`;
  const feature = visibleFeature(viewer, 'issues_access_level', words);
  if (viewer.admin) return allOf([alive, visibleProjects(viewer, words), feature]);
  const open = anyOf([notConfidential, inSources(viewer, levels.reporter, words), ownIssue(viewer)]);
  return allOf([alive, visibleProjects(viewer, words), feature, open]);
};

/** Over `issues` of one project that the viewer sees with its issues: the same rule, the project's part done. */
export const visibleIssuesIn = (viewer: Viewer, project: { id: number; namespace_id: number }): Condition => {
  const ofProject = sql<boolean>`issues.project_id = ${project.id}`;
  if (seesConfidential(viewer, project)) return allOf([ofProject, alive]);
  return allOf([ofProject, alive, anyOf([sql<boolean>`issues.confidential = 0`, ownIssue(viewer)])]);
};

/* ---- code and merge requests ---- */

type CodeFacts = ProjectFacts & { repository_access_level?: FeatureLevel };

/** Whether the viewer may read the project's code: where it is private, from reporters on. */
export const canReadCode = (viewer: Viewer, project: CodeFacts): boolean =>
  canSeeProject(viewer, project) &&
  hasFeature(viewer, project, 'repository_access_level') &&
  (isOpenTo(viewer, project.visibility) || projectLevel(viewer, project) >= levels.reporter);

/** Over `projects`: those whose code the viewer may read. */
export const readableCode = (viewer: Viewer, words: Words): Condition => {
  const open = sql<boolean>`projects.visibility in (${sql.join(openVisibilities(viewer))})`;
  return allOf([
    visibleProjects(viewer, words),
    visibleFeature(viewer, 'repository_access_level', words),
    ...(viewer.admin ? [] : [anyOf([open, inSources(viewer, levels.reporter, words)])]),
  ]);
};

/** Whether the viewer sees the project's merge requests: who reads its code does, where they are on. */
export const canSeeMergeRequests = (
  viewer: Viewer,
  project: CodeFacts & { merge_requests_access_level?: FeatureLevel },
): boolean => canReadCode(viewer, project) && hasFeature(viewer, project, 'merge_requests_access_level');

/** Over a query that joins `merge_requests` with `projects` (the target). */
export const visibleMergeRequests = (viewer: Viewer, words: Words): Condition =>
  allOf([
    sql<boolean>`merge_requests.deleted_at is null`,
    readableCode(viewer, words),
    visibleFeature(viewer, 'merge_requests_access_level', words),
  ]);
