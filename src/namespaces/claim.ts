import type { Selectable } from 'kysely';
import type { Store, Tx } from '../db/open.ts';
import type { NamespacesTable, SourceType } from '../db/schema.ts';

/** Longest full path, as in the table of routes. */
export const longestFullPath = 255;

export type Namespace = Selectable<NamespacesTable>;

/** A namespace that exists, kept as it is until the transaction ends. */
export const lockNamespace = async (tx: Tx, id: number): Promise<Namespace | undefined> =>
  await tx.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.words.forUpdate)
    .executeTakeFirst();

/** Whether another project or namespace than `own` has this full path, in any case. */
export const isPathTaken = async (tx: Tx, fullPath: string, own?: [SourceType, number]): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('routes')
    .select(['source_type', 'source_id'])
    .where('path', '=', fullPath.toLowerCase())
    .executeTakeFirst();
  return row !== undefined && !(row.source_type === own?.[0] && row.source_id === own[1]);
};

/**
 * Runs a transaction that looks whether names are free and then takes them. Where another took one in between,
 * the second run finds it taken and refuses as it would have.
 */
export const takingNames = async <T>(
  { platform: { store } }: { platform: { store: Pick<Store, 'write' | 'isUniqueViolation'> } },
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  try {
    return await store.write(work);
  } catch (error) {
    if (!store.isUniqueViolation(error)) throw error;
    return await store.write(work);
  }
};
