import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { visibleProjects } from '../../core/access/visible.ts';
import { selectNotificationLevels } from './related/notification_levels.ts';
import { topicsText } from './topics.ts';

/** Selects projects with the data of their JSON: namespace, owner, counters and visible forks. */
export const projectRows = (call: Pick<Call, 'db' | 'viewer' | 'platform'>) =>
  call.db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .leftJoin('users as owners', 'owners.id', 'namespaces.owner_id')
    .selectAll('projects')
    .select([
      'namespaces.name as namespace_name',
      'namespaces.path as namespace_path',
      'namespaces.kind as namespace_kind',
      'namespaces.full_path as namespace_full_path',
      'namespaces.parent_id as namespace_parent_id',
      'namespaces.avatar as namespace_avatar',
      'project_counters.star_count',
      'project_counters.opened_issues',
      'project_counters.opened_confidential_issues',
      'owners.id as owner_id',
      'owners.name as owner_name',
      'owners.username as owner_username',
      'owners.state as owner_state',
      'owners.email as owner_email',
      'owners.avatar as owner_avatar',
    ])
    .select([forksCount(call).as('forks_count'), topicsText.as('topics')])
    .select(selectNotificationLevels(call.viewer));

/**
 * In the subquery, `projects` are the forks, as `visibleProjects` expects; the outer project is referenced through
 * its counters.
 */
const forksCount = ({ viewer, platform }: Pick<Call, 'viewer' | 'platform'>) =>
  sql<number>`(select count(*) from projects where projects.forked_from_project_id = project_counters.project_id
    and ${visibleProjects(viewer, platform.store.dialect)})`;

export type ProjectRow = Awaited<ReturnType<ReturnType<typeof projectRows>['execute']>>[number];
