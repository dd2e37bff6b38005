/** Rules for granting, changing and removing roles. Messages are GitLab's. */
import { levels } from '../../core/access/levels.ts';
import { today } from '../../core/access/viewer.ts';
import type { Tx } from '../../platform/db/open.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { refuseProblems } from '../../identity/namespaces/refuse_problems.ts';
import { type Membership, hasEnded, hasOtherOwner, loadMembership, personalOwner } from './queries.ts';
import type { Source, SourceKind } from './member_source.ts';

export type Role = { access_level: number; expires_at: string | null };

/**
 * Checks that the caller may grant a role.
 * @throws Failure 400 for a role that the source does not have or that has expired already, 403 for one above the
 * caller's own
 */
export const requireGrantable = (
  kind: SourceKind,
  source: Source,
  { access_level, expires_at }: Partial<Role>,
  now: number,
): void => {
  const isRole = access_level === undefined || kind.roles.includes(access_level);
  const isOver = expires_at !== undefined && expires_at !== null && expires_at <= today(now);
  refuseProblems({
    access_level: isRole ? null : 'is not included in the list',
    expires_at: isOver ? 'cannot be a date in the past' : null,
  });
  if ((access_level ?? 0) > source.level) throw forbidden();
};

/**
 * Loads the membership to change.
 * @throws Failure 404 for a missing or expired one
 */
export const requireMembership = async (tx: Tx, source: Source, userId: number): Promise<Membership> => {
  const membership = await loadMembership(tx, source, userId);
  if (membership === undefined || hasEnded(membership, tx.now)) throw notFound();
  return membership;
};

/**
 * Refuses to demote the owner of a personal project and the last owner of a group.
 * @param after null if the membership is removed
 * @throws Failure 403
 */
export const requireOwnerStays = async (
  tx: Tx,
  source: Source,
  { user_id, access_level }: Membership,
  after: Role | null,
): Promise<void> => {
  if (source.type === 'Project') {
    if ((await personalOwner(tx, source)) === user_id) throw forbidden();
    return;
  }
  const stays = after?.access_level === levels.owner && after.expires_at === null;
  if (access_level < levels.owner || stays) return;
  if (!(await hasOtherOwner(tx, source, user_id))) throw forbidden();
};
