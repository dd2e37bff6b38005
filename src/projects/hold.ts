import type { Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';

/**
 * Keeps a project from going until the transaction ends, so that nothing is added to one that is going.
 * @throws Failure 404 `404 Project Not Found`
 */
export const holdProject = async (tx: Tx, projectId: number): Promise<void> => {
  const alive = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.words.forUpdate)
    .executeTakeFirst();
  if (alive === undefined) throw notFound('Project');
};
