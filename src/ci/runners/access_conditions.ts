/**
 * Rights on runners, as SQL conditions over the table `runners`. A user who manages one of its projects, or its group,
 * sees all of a runner. Changing it takes managing all of its projects, because it runs the jobs of all with their
 * secrets.
 */
import { type RawBuilder, sql } from 'kysely';
import { groupRules, projectRules } from '../../core/access/may.ts';
import { type Viewer, getSourcesAtLeast } from '../../core/access/viewer.ts';
import { allOf, anyOf, projectsAtLeast } from '../../core/access/visible.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';

type Condition = RawBuilder<boolean>;

const always: Condition = sql<boolean>`1 = 1`;
const isOfType = (type: string): Condition => sql<boolean>`runners.runner_type = ${type}`;

/** @param which condition over `projects` */
const hasProject = (which: Condition): Condition => sql<boolean>`exists (
  select 1 from runner_projects join projects on projects.id = runner_projects.project_id
  where runner_projects.runner_id = runners.id and projects.deleted_at is null and ${which})`;

const managedProjects = (viewer: Viewer, dialect: SqlDialect): Condition =>
  projectsAtLeast(viewer, projectRules.admin_runner.level, dialect);

const managesGroup = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const { namespaces } = getSourcesAtLeast(viewer, groupRules.admin_group_runner.level);
  return sql<boolean>`exists (select 1 from runner_groups where runner_groups.runner_id = runners.id
    and ${dialect.oneOf('runner_groups.namespace_id', namespaces)})`;
};

/** Runners that the viewer manages through a granted role; an administrator's role does not count. */
export const ownRunners = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const self = { ...viewer, admin: false };
  return anyOf([
    allOf([isOfType('project_type'), hasProject(managedProjects(self, dialect))]),
    allOf([isOfType('group_type'), managesGroup(self, dialect)]),
  ]);
};

export const managedRunners = (viewer: Viewer, dialect: SqlDialect): Condition =>
  viewer.admin ? always : ownRunners(viewer, dialect);

/** Runners that also serve a project that the viewer does not manage. */
const isShared = (viewer: Viewer, dialect: SqlDialect): Condition =>
  hasProject(sql<boolean>`not (${managedProjects(viewer, dialect)})`);

export const editableRunners = (viewer: Viewer, dialect: SqlDialect): Condition =>
  viewer.admin
    ? always
    : allOf([ownRunners(viewer, dialect), sql<boolean>`not ${isShared(viewer, dialect)}`]);

/** Runners of a group above a project that the viewer manages. */
const servesBelow = (viewer: Viewer, dialect: SqlDialect): Condition => sql<boolean>`exists (
  with recursive below (id) as (
    select namespace_id from runner_groups where runner_groups.runner_id = runners.id
    union
    select namespaces.id from namespaces join below on namespaces.parent_id = below.id
  ) select 1 from projects where projects.namespace_id in (select id from below)
    and projects.deleted_at is null and ${managedProjects(viewer, dialect)})`;

/** Runners that the viewer sees; instance runners are visible to everybody. */
export const seenRunners = (viewer: Viewer, dialect: SqlDialect): Condition =>
  viewer.admin
    ? always
    : anyOf([
        isOfType('instance_type'),
        ownRunners(viewer, dialect),
        allOf([isOfType('group_type'), servesBelow(viewer, dialect)]),
      ]);
