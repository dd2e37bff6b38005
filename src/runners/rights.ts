/**
 * Who may do what with a runner, as SQL over the table `runners`. Who manages one of its projects, or its group, sees
 * all of it; it is changed by who manages all of its projects: it runs the jobs of all, with their secrets.
 */
import { type RawBuilder, sql } from 'kysely';
import { groupRules, projectRules } from '../access/may.ts';
import { type Viewer, sourcesAtLeast } from '../access/viewer.ts';
import { allOf, anyOf, projectsAtLeast } from '../access/visible.ts';
import type { Words } from '../db/engine.ts';

type Condition = RawBuilder<boolean>;

const always: Condition = sql<boolean>`1 = 1`;
const isOf = (type: string): Condition => sql<boolean>`runners.runner_type = ${type}`;

/** @param which over `projects` */
const hasProject = (which: Condition): Condition => sql<boolean>`exists (
  select 1 from runner_projects join projects on projects.id = runner_projects.project_id
  where runner_projects.runner_id = runners.id and projects.deleted_at is null and ${which})`;

const managedProjects = (viewer: Viewer, words: Words): Condition =>
  projectsAtLeast(viewer, projectRules.admin_runner.level, words);

const managesGroup = (viewer: Viewer, words: Words): Condition => {
  const { namespaces } = sourcesAtLeast(viewer, groupRules.admin_group_runner.level);
  return sql<boolean>`exists (select 1 from runner_groups where runner_groups.runner_id = runners.id
    and ${words.oneOf('runner_groups.namespace_id', namespaces)})`;
};

/** Runners that are the viewer's by a role of his own: an administrator's, too. */
export const ownRunners = (viewer: Viewer, words: Words): Condition => {
  const self = { ...viewer, admin: false };
  return anyOf([
    allOf([isOf('project_type'), hasProject(managedProjects(self, words))]),
    allOf([isOf('group_type'), managesGroup(self, words)]),
  ]);
};

export const managedRunners = (viewer: Viewer, words: Words): Condition =>
  viewer.admin ? always : ownRunners(viewer, words);

/** Runs the jobs of a project, too, that the viewer does not manage. */
const isShared = (viewer: Viewer, words: Words): Condition =>
  hasProject(sql<boolean>`not (${managedProjects(viewer, words)})`);

export const editableRunners = (viewer: Viewer, words: Words): Condition =>
  viewer.admin ? always : allOf([ownRunners(viewer, words), sql<boolean>`not ${isShared(viewer, words)}`]);

/** Its group is above a project that the viewer manages. */
const servesBelow = (viewer: Viewer, words: Words): Condition => sql<boolean>`exists (
  with recursive below (id) as (
    select namespace_id from runner_groups where runner_groups.runner_id = runners.id
    union
    select namespaces.id from namespaces join below on namespaces.parent_id = below.id
  ) select 1 from projects where projects.namespace_id in (select id from below)
    and projects.deleted_at is null and ${managedProjects(viewer, words)})`;

/** Those of the instance serve everybody. */
export const seenRunners = (viewer: Viewer, words: Words): Condition =>
  viewer.admin
    ? always
    : anyOf([
        isOf('instance_type'),
        ownRunners(viewer, words),
        allOf([isOf('group_type'), servesBelow(viewer, words)]),
      ]);
