import type { Call } from '../../core/access/call.ts';
import { notFound } from '../../platform/errors.ts';
import type { BadgeOwner } from './owner.ts';
import { loadBadge } from './queries.ts';
import { recordBadge } from './record_badge.ts';

/** Deletes a badge of a project or group that the caller may administer. @throws Failure 404 */
export const deleteBadge = async (call: Call, owner: BadgeOwner, badgeId: number): Promise<void> => {
  const { name, link_url, image_url } = await loadBadge(call, owner.own, badgeId);
  await call.write(async (tx) => {
    const removed = await tx.db
      .deleteFrom('badges')
      .where('id', '=', badgeId)
      .returning('id')
      .executeTakeFirst();
    if (removed === undefined) throw notFound('Badge');
    await recordBadge(tx, call, owner, { verb: 'deleted', id: badgeId, data: { name, link_url, image_url } });
  });
};
