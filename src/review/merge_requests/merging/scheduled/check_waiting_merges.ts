/** Enqueues the checks of waiting merges after changes that may have ended their wait. */
import { type RawBuilder, sql } from 'kysely';
import type { Platform } from '../../../../core/platform.ts';
import { isCurrentLink } from '../../../../identity/groups/group_links.ts';
import { selectDescendants } from '../../../../identity/namespaces/ancestors.ts';
import { enqueueAutoMerge } from '../../../../planning/issuables/auto_merge_work.ts';
import type { Store } from '../../../../platform/db/open.ts';

/** Merges of one transaction. */
const maxChecks = 100;

/** @property tables that the condition reads, as `with` */
type Which = { index: string; condition: RawBuilder<boolean>; tables?: RawBuilder<unknown> };

/** Lists waiting merges outside of a transaction: the change is committed, and a wait that begins later sees it. */
const listWaiting = async (
  { db, dialect }: Store,
  { index, condition, tables = sql`` }: Which,
): Promise<number[]> => {
  // As in the condition of the indexes: a parameter would not match it.
  const { rows } = await sql<{ id: number }>`
    ${tables} select id from merge_requests ${dialect.indexedBy(index)}
    where merge_when_pipeline_succeeds = 1 and state = 'opened' and deleted_at is null and ${condition}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
};

const enqueueChecks = async ({ store }: Platform, ids: readonly number[]): Promise<void> => {
  for (let from = 0; from < ids.length; from += maxChecks)
    await store.write(async (tx) => {
      for (const id of ids.slice(from, from + maxChecks)) await enqueueAutoMerge(tx, id);
    });
};

/** Enqueues the check of each waiting merge from or into a project. */
export const checkMergesOfProject = async (platform: Platform, projectId: number): Promise<void> => {
  const into = { index: 'merge_requests_scheduled', condition: sql<boolean>`project_id = ${projectId}` };
  const from = {
    index: 'merge_requests_scheduled_source',
    condition: sql<boolean>`source_project_id = ${projectId}`,
  };
  const ids = [await listWaiting(platform.store, into), await listWaiting(platform.store, from)];
  await enqueueChecks(platform, [...new Set(ids.flat())]);
};

/**
 * Selects the merges from or into the projects below a group, and projects in which its members may have a role through
 * a share. Starts with the merges, because a group may have many more projects.
 */
const selectOfGroup = (groupId: number, now: number): Which => {
  const below = selectDescendants(groupId);
  const isShared = sql`group_id in ${below} and ${isCurrentLink(now)}`;
  return {
    index: 'merge_requests_scheduled',
    tables: sql`with recursive places (id) as (
      select id from namespaces where id in ${below}
      union all
      select source_id from group_links where ${isShared} and source_type = 'Namespace'
      union
      select namespaces.id from namespaces join places on namespaces.parent_id = places.id
    )`,
    condition: sql<boolean>`exists (
      select 1 from projects where projects.id in (merge_requests.project_id, merge_requests.source_project_id)
        and (namespace_id in (select id from places)
          or projects.id in (select source_id from group_links where ${isShared} and source_type = 'Project')))`,
  };
};

/** Enqueues the check of each waiting merge of the projects that get roles from a group. */
export const checkMergesOfGroup = async (platform: Platform, groupId: number): Promise<void> => {
  const { store, clock } = platform;
  await enqueueChecks(platform, await listWaiting(store, selectOfGroup(groupId, clock.now())));
};
