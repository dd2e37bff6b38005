import type { Call } from '../../core/access/call.ts';
import type { BadgeOwner } from './owner.ts';
import { loadBadge } from './queries.ts';

/** Deletes a badge of a project or group that the caller may administer. @throws Failure 404 */
export const deleteBadge = async (call: Call, owner: BadgeOwner, badgeId: number): Promise<void> => {
  await loadBadge(call, owner.own, badgeId);
  await call.write(async ({ db }) => await db.deleteFrom('badges').where('id', '=', badgeId).execute());
};
