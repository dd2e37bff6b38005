import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
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

/**
 * Removes a namespace with all groups and projects below it. They disappear, their paths are free, and nothing is
 * shared with them any more, when the transaction commits; background work (`work.ts`) deletes the rows.
 * @returns whether it still existed
 */
export const removeNamespace = async (tx: Tx, namespaceId: number): Promise<boolean> => {
  if ((await markTree(tx, namespaceId)) === 0) return false;
  // A group created below while this transaction waited is visible only now.
  while ((await markTree(tx, namespaceId)) > 0);
  const tree = selectDescendants(namespaceId);
  const below = sql<number>`(select id from projects where namespace_id in ${tree})`;
  await tx.db
    .updateTable('projects')
    .set({ deleted_at: tx.now })
    .where('deleted_at', 'is', null)
    .where('namespace_id', 'in', tree)
    .execute();
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
