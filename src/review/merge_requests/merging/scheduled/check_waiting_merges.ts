/** Enqueues the checks of waiting merges after changes that may have ended their wait. */
import { type RawBuilder, sql } from 'kysely';
import type { Platform } from '../../../../core/platform.ts';
import { isCurrentLink } from '../../../../identity/groups/group_links.ts';
import { selectDescendants } from '../../../../identity/namespaces/ancestors.ts';
import { enqueueAutoMerge } from '../../../../planning/issuables/auto_merge_work.ts';

/** @param select the projects, as a subquery, at a time */
const checkMergesOf = async (
  { store }: Platform,
  select: (now: number) => RawBuilder<number>,
): Promise<void> =>
  await store.write(async (tx) => {
    const projects = select(tx.now);
    const waiting = await tx.db
      .selectFrom('merge_requests')
      .select('id')
      .where((is) => is.or([is('project_id', 'in', projects), is('source_project_id', 'in', projects)]))
      .where('state', '=', 'opened')
      .where('merge_when_pipeline_succeeds', '=', sql.lit(1)) // or SQLite would not use the index of these
      .where('deleted_at', 'is', null)
      .execute();
    for (const { id } of waiting) await enqueueAutoMerge(tx, id);
  });

/** Enqueues the check of each waiting merge from or into a project. */
export const checkMergesOfProject = async (platform: Platform, projectId: number): Promise<void> =>
  await checkMergesOf(platform, () => sql<number>`(${projectId})`);

/** Subquery: the projects below a group, and those in which its members may have a role by a share. */
const selectProjectsOf = (groupId: number, now: number): RawBuilder<number> => {
  const below = selectDescendants(groupId);
  const isShared = sql`group_id in ${below} and ${isCurrentLink(now)}`;
  return sql<number>`(
    with recursive places (id) as (
      select id from namespaces where id in ${below}
      union all
      select source_id from group_links where ${isShared} and source_type = 'Namespace'
      union
      select namespaces.id from namespaces join places on namespaces.parent_id = places.id
    )
    select id from projects where namespace_id in (select id from places)
    union all
    select source_id from group_links where ${isShared} and source_type = 'Project')`;
};

/** Enqueues the check of each waiting merge of the projects that get roles from a group. */
export const checkMergesOfGroup = async (platform: Platform, groupId: number): Promise<void> =>
  await checkMergesOf(platform, (now) => selectProjectsOf(groupId, now));
