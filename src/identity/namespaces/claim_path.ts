import type { Selectable } from 'kysely';
import type { Store, Tx } from '../../platform/db/open.ts';
import type { NamespacesTable } from '../../platform/db/schema/identity.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';

/** Maximum length of a full path, as in the table of routes. */
export const maxFullPathLength = 255;

export type Namespace = Selectable<NamespacesTable>;

/** Loads an existing namespace and locks it until the transaction ends. */
export const lockNamespace = async (tx: Tx, id: number): Promise<Namespace | undefined> =>
  await tx.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();

/** Returns whether a project or namespace other than `own` has this full path, in any case. */
export const isPathTaken = async (tx: Tx, fullPath: string, own?: [SourceType, number]): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('routes')
    .select(['source_type', 'source_id'])
    .where('path', '=', fullPath.toLowerCase())
    .executeTakeFirst();
  return row !== undefined && !(row.source_type === own?.[0] && row.source_id === own[1]);
};

/**
 * Runs a transaction that checks and takes names, and once more after a unique violation, so that it reports the name
 * as taken.
 */
export const retryOnTakenName = async <T>(
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
