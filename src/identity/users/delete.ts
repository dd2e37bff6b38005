import { sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { today } from '../../core/access/viewer.ts';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import { conflict, forbidden } from '../../platform/errors.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { enqueueAvatarRemoval } from '../avatars/store_avatar.ts';
import { blockBotsOf } from '../bots/block_bots.ts';
import { selectBot } from '../bots/is_bot.ts';
import { retryOnTakenName } from '../namespaces/claim_path.ts';
import { removeNamespace } from '../namespaces/remove.ts';
import { eraseContributions, reassignContributions, hasContributions } from './contributions.ts';
import { ensureGhost } from './ghost_user.ts';
import { requireOtherAdmin } from './require_other_admin.ts';
import { lockUser } from './queries.ts';

/** Lists the groups that nobody else owns, directly or through a group above. Bots do not count. */
const solelyOwnedGroups = async (
  { db, now }: { db: Reader; now: number },
  userId: number,
): Promise<number[]> => {
  const owner = sql`members.source_type = 'Namespace' and members.access_level = ${sql.lit(levels.owner)}
    and (members.expires_at is null or members.expires_at > ${today(now)})`;
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
      where members.user_id <> ${userId} and ${owner} and not exists ${selectBot(sql.ref('members.user_id'))})
    order by id
  `.execute(db);
  return rows.map(({ id }) => id);
};

/** Names the groups that keep a user from being deleted: the first paths, and the number of all. */
export const nameSolelyOwnedGroups = async (
  reader: { db: Reader; now: number },
  userId: number,
  limit: number,
): Promise<{ paths: string[]; total: number }> => {
  const ids = await solelyOwnedGroups(reader, userId);
  if (ids.length === 0) return { paths: [], total: 0 };
  const rows = await reader.db
    .selectFrom('namespaces')
    .select('full_path')
    .where('id', 'in', ids.slice(0, limit))
    .orderBy('full_path')
    .execute();
  return { paths: rows.map(({ full_path }) => full_path), total: ids.length };
};

const removeGroups = async (tx: Tx, cause: Cause | null, ids: number[]): Promise<void> => {
  for (const id of ids) {
    if (!(await removeNamespace(tx, cause, id))) continue;
    await blockBotsOf(tx, { type: 'Namespace', id });
    await recordEvent(tx, cause, {
      kind: 'group.deleted',
      project_id: null,
      target_type: 'Group',
      target_id: id,
    });
  }
};

/** Detaches the personal namespace, which background work removes, from the user's row. */
const removePersonalNamespace = async (tx: Tx, cause: Cause | null, userId: number): Promise<void> => {
  const { id } = await tx.db
    .updateTable('namespaces')
    .set({ owner_id: null })
    .where('owner_id', '=', userId)
    .where('kind', '=', 'user')
    .returning('id')
    .executeTakeFirstOrThrow();
  await removeNamespace(tx, cause, id);
  await blockBotsOf(tx, { type: 'Namespace', id });
};

export type Deletion = {
  /** True to also remove contributions and solely owned groups. */
  hard_delete?: boolean | undefined;
  /** `If-Unmodified-Since` of the request. */
  unmodified_since?: string | undefined;
};

/**
 * Deletes a user and everything that belongs to the account. Contributions elsewhere are reassigned to the ghost.
 * @throws Failure 404 for an unknown user, 403 for the ghost, 412 if the user changed meanwhile, 409 for the only
 * owner of a group and for the last administrator
 */
export const deleteUser = async (
  store: Store,
  cause: Cause | null,
  id: number,
  { hard_delete = false, unmodified_since }: Deletion = {},
): Promise<void> =>
  await retryOnTakenName({ platform: { store } }, async (tx) => {
    const user = await lockUser(tx, id);
    if (user.ghost === 1) throw forbidden('An internal user cannot be deleted');
    requireUnmodified(unmodified_since, user.updated_at);
    await requireOtherAdmin(tx, user);
    const groups = await solelyOwnedGroups(tx, id);
    if (groups.length > 0 && !hard_delete) {
      throw conflict('User cannot be removed while is the sole-owner of a group');
    }
    await removeGroups(tx, cause, groups);
    await removePersonalNamespace(tx, cause, id);
    if (hard_delete) await eraseContributions(tx, id);
    else if (await hasContributions(tx, id))
      await reassignContributions(tx, id, await ensureGhost(tx, cause));
    await enqueueAvatarRemoval(tx, user.avatar);
    await tx.db.deleteFrom('users').where('id', '=', id).execute();
    const target = { project_id: null, target_type: 'User', target_id: id };
    const data = { username: user.username, hard_delete };
    await recordEvent(tx, cause, { kind: 'user.deleted', ...target, data, transient: { user } });
  });
