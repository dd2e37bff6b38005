import { sql } from 'kysely';
import { levels } from '../access/levels.ts';
import { today } from '../access/viewer.ts';
import type { Store, Tx } from '../db/open.ts';
import { conflict, forbidden } from '../errors.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { takingNames } from '../namespaces/claim.ts';
import { removeNamespace } from '../namespaces/remove.ts';
import { erase, handOver, hasContributions } from './contributions.ts';
import { ghostId } from './ghost.ts';
import { requireOtherAdmin } from './last_admin.ts';
import { lockUser } from './queries.ts';

/** Groups that nobody else owns, neither themselves nor through a group above. */
const solelyOwnedGroups = async (tx: Tx, userId: number): Promise<number[]> => {
  const owner = sql`members.source_type = 'Namespace' and members.access_level = ${sql.lit(levels.owner)}
    and (members.expires_at is null or members.expires_at > ${today(tx.now)})`;
  const { rows } = await sql<{ id: number }>`
    with recursive above (owned, id, parent_id) as (
      select namespaces.id, namespaces.id, namespaces.parent_id
      from members join namespaces on namespaces.id = members.source_id
      where members.user_id = ${userId} and ${owner} and namespaces.deleted_at is null
      union all
      select above.owned, namespaces.id, namespaces.parent_id
      from namespaces join above on namespaces.id = above.parent_id
    )
    select distinct owned as id from above where owned not in (
      select above.owned from above join members on members.source_id = above.id
      where members.user_id <> ${userId} and ${owner})
    order by id
  `.execute(tx.db);
  return rows.map(({ id }) => id);
};

const removeGroups = async (tx: Tx, cause: Cause | null, ids: number[]): Promise<void> => {
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    if (!(await removeNamespace(tx, id))) continue;
    // oxlint-disable-next-line no-await-in-loop
    await recordEvent(tx, cause, {
      kind: 'group.deleted',
      project_id: null,
      target_type: 'Group',
      target_id: id,
    });
  }
};

/** The personal namespace goes its own way, behind the request: the user's row must not take it along. */
const removePersonalNamespace = async (tx: Tx, userId: number): Promise<void> => {
  const { id } = await tx.db
    .updateTable('namespaces')
    .set({ owner_id: null })
    .where('owner_id', '=', userId)
    .where('kind', '=', 'user')
    .returning('id')
    .executeTakeFirstOrThrow();
  await removeNamespace(tx, id);
};

export type Deletion = {
  /** Removes what he wrote, and the groups that he alone owns, too. */
  hard_delete?: boolean | undefined;
  /** Of the request: `If-Unmodified-Since`. */
  unmodified_since?: string | undefined;
};

/**
 * Deletes a user with all that is his own. What he wrote elsewhere becomes the ghost's.
 * @throws Failure 404 for no user, 403 for the ghost, 412 if the user changed meanwhile, 409 for the only owner of a group and
 *   for the last administrator
 */
export const deleteUser = async (
  store: Store,
  cause: Cause | null,
  id: number,
  { hard_delete = false, unmodified_since }: Deletion = {},
): Promise<void> =>
  await takingNames({ platform: { store } }, async (tx) => {
    const user = await lockUser(tx, id);
    if (user.ghost === 1) throw forbidden('An internal user cannot be deleted');
    requireUnmodified(unmodified_since, user.updated_at);
    await requireOtherAdmin(tx, user);
    const groups = await solelyOwnedGroups(tx, id);
    if (groups.length > 0 && !hard_delete) {
      throw conflict('User cannot be removed while is the sole-owner of a group');
    }
    await removeGroups(tx, cause, groups);
    await removePersonalNamespace(tx, id);
    if (hard_delete) await erase(tx, id);
    else if (await hasContributions(tx, id)) await handOver(tx, id, await ghostId(tx, cause));
    await tx.db.deleteFrom('users').where('id', '=', id).execute();
    const target = { project_id: null, target_type: 'User', target_id: id };
    const data = { username: user.username, hard_delete };
    await recordEvent(tx, cause, { kind: 'user.deleted', ...target, data });
  });
