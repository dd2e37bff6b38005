/** Removes the rows of namespaces that are gone. Every step may be done twice. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Store } from '../db/open.ts';
import { type WorkHandler, enqueue } from '../queue/queue.ts';
import { descendantsOf } from './ancestors.ts';
import { drain } from './drain.ts';

const projectsAtOnce = 100;
/** Until the projects below are looked for again. */
const pause = 5_000;

const nextProjects = async (store: Store, namespaceId: number): Promise<number[]> => {
  const rows = await store.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', 'in', descendantsOf(namespaceId))
    .orderBy('id')
    .limit(projectsAtOnce)
    .execute();
  return rows.map(({ id }) => id);
};

/** Has the projects below removed first, some at a time, and comes back. */
const purgeProjects = async (store: Store, namespaceId: number, projects: number[]): Promise<void> => {
  await store.write(async (tx) => {
    for (const id of projects) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
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
  const tree = descendantsOf(namespaceId);
  const ofTree = sql<boolean>`group_id in ${tree}`;
  const membership = sql<boolean>`source_type = 'Namespace' and source_id in ${tree}`;
  await drain(store, { table: 'members', key: ['id'], where: membership });
  await drain(store, { table: 'variables', key: ['id'], where: membership });
  await drain(store, {
    table: 'runners',
    key: ['id'],
    where: sql<boolean>`id in (select runner_id from runner_groups where namespace_id in ${tree})`,
  });
  await drain(store, {
    table: 'subscriptions',
    key: ['target_type', 'target_id', 'user_id'],
    where: sql<boolean>`target_type = 'Label' and target_id in (select id from labels where ${ofTree})`,
  });
  await drain(store, { table: 'labels', key: ['id'], where: ofTree });
  await drain(store, { table: 'milestones', key: ['id'], where: ofTree });
  await store.write(
    async ({ db }) => await db.deleteFrom('namespaces').where('id', '=', namespaceId).execute(),
  );
};

export const namespaceWork = ({ store }: Platform): { [name: string]: WorkHandler } => ({
  purge_namespace: async ({ namespace_id }) => await purgeNamespace(store, Number(namespace_id)),
});
