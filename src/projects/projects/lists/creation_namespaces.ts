import { type Call, requireUser } from '../../../core/access/call.ts';
import { ownNamespaces } from '../../../identity/namespaces/queries.ts';
import type { Namespace } from '../../../identity/namespaces/claim_path.ts';
import { mayCreateIn } from '../create.ts';

/** Lists namespaces in which the caller may create projects, or into which they may move one, by path. */
export const listCreationNamespaces = async (call: Call, limit: number): Promise<Namespace[]> => {
  const { db, viewer, platform } = call;
  const user = requireUser(call);
  const namespaces = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(ownNamespaces(viewer, platform.store.dialect))
    .orderBy('full_path')
    .limit(limit)
    .execute();
  return namespaces.filter((namespace) => mayCreateIn(call, user, namespace));
};
