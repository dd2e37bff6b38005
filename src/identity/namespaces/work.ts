/** Deletes the rows of removed namespaces. Every step is idempotent. */
import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import type { Store } from '../../platform/db/open.ts';
import { type WorkHandler, enqueue } from '../../platform/queue/enqueue.ts';
import { enqueueAvatarRemoval } from '../avatars/store_avatar.ts';
import { selectDescendants } from './ancestors.ts';
import { deleteInBatches } from './delete_in_batches.ts';

const projectsAtOnce = 100;
/** Milliseconds until the projects below are checked again. */
const pause = 5_000;

const nextProjects = async (store: Store, namespaceId: number): Promise<number[]> => {
  const rows = await store.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', 'in', selectDescendants(namespaceId))
    .orderBy('id')
    .limit(projectsAtOnce)
    .execute();
  return rows.map(({ id }) => id);
};

/** Enqueues the removal of the projects below, some at a time, and the next check. */
const purgeProjects = async (store: Store, namespaceId: number, projects: number[]): Promise<void> => {
  await store.write(async (tx) => {
    for (const id of projects) {
      await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` });
    }
    const again = { unique_key: `purge_namespace:${namespaceId}`, run_at: tx.now + pause };
    await enqueue(tx, 'purge_namespace', { namespace_id: namespaceId }, again);
  });
};

const purgeNamespace = async (store: Store, namespaceId: number): Promise<void> => {
  const gone = await store.db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', namespaceId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst();
  if (gone === undefined) return;
  const projects = await nextProjects(store, namespaceId);
  if (projects.length > 0) return await purgeProjects(store, namespaceId, projects);
  const tree = selectDescendants(namespaceId);
  const ofTree = sql<boolean>`group_id in ${tree}`;
  const membership = sql<boolean>`source_type = 'Namespace' and source_id in ${tree}`;
  await deleteInBatches(store, { table: 'members', key: ['id'], where: membership });
  await deleteInBatches(store, { table: 'group_links', key: ['id'], where: membership });
  await deleteInBatches(store, { table: 'invitations', key: ['id'], where: membership });
  await deleteInBatches(store, { table: 'variables', key: ['id'], where: membership });
  await deleteInBatches(store, {
    table: 'runners',
    key: ['id'],
    where: sql<boolean>`id in (select runner_id from runner_groups where namespace_id in ${tree})`,
  });
  await deleteInBatches(store, {
    table: 'subscriptions',
    key: ['target_type', 'target_id', 'user_id'],
    where: sql<boolean>`target_type = 'Label' and target_id in (select id from labels where ${ofTree})`,
  });
  await deleteInBatches(store, { table: 'labels', key: ['id'], where: ofTree });
  await deleteInBatches(store, { table: 'milestones', key: ['id'], where: ofTree });
  await deleteInBatches(store, { table: 'notification_settings', key: ['id'], where: ofTree });
  await store.write(async (tx) => {
    const avatars = await tx.db
      .selectFrom('namespaces')
      .select('avatar')
      .where('avatar', 'is not', null)
      .where('id', 'in', tree)
      .execute();
    for (const { avatar } of avatars) await enqueueAvatarRemoval(tx, avatar);
    await tx.db.deleteFrom('namespaces').where('id', '=', namespaceId).execute();
  });
};

export const namespaceWork = ({ store }: Platform): { [name: string]: WorkHandler } => ({
  purge_namespace: async ({ namespace_id }) => await purgeNamespace(store, Number(namespace_id)),
});
