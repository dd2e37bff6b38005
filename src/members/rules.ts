/** Who may be given which role, and whose role stays. Texts are GitLab's. */
import { levels } from '../access/levels.ts';
import { today } from '../access/viewer.ts';
import type { Tx } from '../db/open.ts';
import { forbidden, notFound } from '../errors.ts';
import { refuseProblems } from '../namespaces/problems.ts';
import { type Membership, hasEnded, hasOtherOwner, membershipOf, personalOwner } from './queries.ts';
import type { Source, SourceKind } from './source.ts';

export type Role = { access_level: number; expires_at: string | null };

/**
 * @throws Failure 400 for a role that members of such a source cannot have or that would have ended already,
 * 403 for one above the caller's own
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
 * The membership that is to change.
 * @throws Failure 404 for one that does not exist or has ended
 */
export const requireMembership = async (tx: Tx, source: Source, userId: number): Promise<Membership> => {
  const found = await membershipOf(tx, source, userId);
  if (found === undefined || hasEnded(found, tx.now)) throw notFound();
  return found;
};

/**
 * The owner of a personal project keeps his role, and a group keeps an owner for good.
 * @param after null: the membership goes
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
