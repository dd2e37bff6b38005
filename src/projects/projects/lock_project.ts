import type { Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';

/** Returns the turn of transactions that lock a project's row (`Write`). */
export const projectTurn = (projectId: number): string => `project ${projectId}`;

/**
 * Prevents the removal of a project until the transaction ends, so that nothing is added to a removed one.
 * @throws Failure 404 `404 Project Not Found`
 */
export const holdProject = async (tx: Tx, projectId: number): Promise<void> => {
  const alive = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (alive === undefined) throw notFound('Project');
};
