import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';
import { descendantsOf } from './ancestors.ts';

/** Marks what is not marked yet; answers how many namespaces that were. */
const markTree = async (tx: Tx, namespaceId: number): Promise<number> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('namespaces')
    .set({ deleted_at: tx.now })
    .where('deleted_at', 'is', null)
    .where('id', 'in', descendantsOf(namespaceId))
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/**
 * Takes a namespace away with all groups and projects below it: gone and their paths free once the transaction
 * ends. The queue removes the rows (`work.ts`).
 * @returns whether it was still there
 */
export const removeNamespace = async (tx: Tx, namespaceId: number): Promise<boolean> => {
  if ((await markTree(tx, namespaceId)) === 0) return false;
  // A group that was being made below while this waited for it is seen only now.
  // oxlint-disable-next-line no-await-in-loop -- until there is none
  while ((await markTree(tx, namespaceId)) > 0);
  const tree = descendantsOf(namespaceId);
  const below = sql<number>`(select id from projects where namespace_id in ${tree})`;
  await tx.db
    .updateTable('projects')
    .set({ deleted_at: tx.now })
    .where('deleted_at', 'is', null)
    .where('namespace_id', 'in', tree)
    .execute();
  for (const table of ['routes', 'redirect_routes'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
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
