import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import { topicsText } from './topics.ts';

/** A project with what its JSON tells of its namespace, its owner and its counters. */
export const projectRows = (db: Reader) =>
  db
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
      'project_counters.opened_issues',
      'project_counters.opened_confidential_issues',
      'owners.id as owner_id',
      'owners.name as owner_name',
      'owners.username as owner_username',
      'owners.state as owner_state',
      'owners.email as owner_email',
    ])
    .select([forksCount.as('forks_count'), topicsText.as('topics')]);

const forksCount: RawBuilder<number> = sql<number>`(select count(*) from projects as forks
  where forks.forked_from_project_id = projects.id and forks.deleted_at is null)`;

export type ProjectRow = Awaited<ReturnType<ReturnType<typeof projectRows>['execute']>>[number];
