import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { type Cause, collectChange } from '../../core/events/record_event.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { selectDescendants } from './ancestors.ts';

/** Marks the namespaces of a tree that are not marked yet, and returns their number. */
const markTree = async (tx: Tx, namespaceId: number): Promise<number> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('namespaces')
    .set({ deleted_at: tx.now })
    .where('deleted_at', 'is', null)
    .where('id', 'in', selectDescendants(namespaceId))
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** Marks the projects of a tree. Observers learn of each; the change log has the removal of the namespace. */
const removeProjects = async (tx: Tx, cause: Cause | null, namespaceId: number): Promise<void> => {
  const removed = await tx.db
    .updateTable('projects')
    .set({ deleted_at: tx.now })
    .where('deleted_at', 'is', null)
    .where('namespace_id', 'in', selectDescendants(namespaceId))
    .returning(['id', 'full_path'])
    .execute();
  for (const { id, full_path } of removed)
    collectChange(tx, cause?.user.id ?? null, {
      kind: 'project.removed',
      project_id: id,
      target_type: 'Project',
      target_id: id,
      data: { full_path },
    });
};

/**
 * Removes a namespace with all groups and projects below it. They disappear, their paths are free, and nothing is
 * shared with them any more, when the transaction commits; background work (`work.ts`) deletes the rows.
 * @returns whether it still existed
 */
export const removeNamespace = async (tx: Tx, cause: Cause | null, namespaceId: number): Promise<boolean> => {
  if ((await markTree(tx, namespaceId)) === 0) return false;
  // A group created below while this transaction waited is visible only now.
  while ((await markTree(tx, namespaceId)) > 0);
  const tree = selectDescendants(namespaceId);
  const below = sql<number>`(select id from projects where namespace_id in ${tree})`;
  await removeProjects(tx, cause, namespaceId);
  await tx.db.deleteFrom('group_links').where('group_id', 'in', tree).execute();
  for (const table of ['routes', 'redirect_routes'] as const) {
    await tx.db
      .deleteFrom(table)
      .where((is) =>
        is.or([
          is.and([is('source_type', '=', 'Namespace'), is('source_id', 'in', tree)]),
          is.and([is('source_type', '=', 'Project'), is('source_id', 'in', below)]),
        ]),
      )
      .execute();
  }
  await enqueue(
    tx,
    'purge_namespace',
    { namespace_id: namespaceId },
    { unique_key: `purge_namespace:${namespaceId}` },
  );
  return true;
};
