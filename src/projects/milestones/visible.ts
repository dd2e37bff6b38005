/** Which milestones a viewer sees, across projects and groups. */
import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import { allOf, anyOf, visibleFeature, visibleProjects } from '../../core/access/visible.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';

type Condition = RawBuilder<boolean>;

/** Over `projects` that the viewer sees: one of the features that have milestones is enabled, as `read_milestone` requires. */
export const tracksMilestones = (viewer: Viewer, dialect: SqlDialect): Condition =>
  anyOf([
    visibleFeature(viewer, 'issues_access_level', dialect),
    visibleFeature(viewer, 'merge_requests_access_level', dialect),
  ]);

/**
 * Over `milestones`: milestones of projects and groups that the viewer sees. Empty without signing in, as the lists
 * require.
 * @param ofProjects further conditions over the `projects` of milestones
 */
export const visibleMilestones = (
  viewer: Viewer,
  dialect: SqlDialect,
  ofProjects: Condition[] = [],
): Condition => {
  if (viewer.user_id === null) return sql<boolean>`1 = 0`;
  const project = allOf([
    sql<boolean>`projects.id = milestones.project_id`,
    visibleProjects(viewer, dialect),
    tracksMilestones(viewer, dialect),
    ...ofProjects,
  ]);
  const group = allOf([sql<boolean>`namespaces.id = milestones.group_id`, visibleGroups(viewer, dialect)]);
  return anyOf([
    sql<boolean>`exists (select 1 from projects where ${project})`,
    sql<boolean>`exists (select 1 from namespaces where ${group})`,
  ]);
};
