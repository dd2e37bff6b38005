import type { Call } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import type { BadgeOwner } from './owner.ts';
import { recordBadge } from './record_badge.ts';
import { requireBadgeUrls } from './rules.ts';

const quota = { what: 'badges', most: 100 };

type NewBadge = { link_url: string; image_url: string; name: string | null };

/** Adds a badge to a project or group that the caller may administer. Returns its id. @throws Failure 400 */
export const createBadge = async (call: Call, owner: BadgeOwner, badge: NewBadge): Promise<number> => {
  const { link_url, image_url, name } = badge;
  requireBadgeUrls({ link_url, image_url });
  return await call.write(async (tx) => {
    await requireRecordQuota(tx.db.selectFrom('badges').where(owner.own), quota);
    const times = { created_at: tx.now, updated_at: tx.now };
    const id = await insertRow(tx.db, 'badges', { ...owner.columns, name, link_url, image_url, ...times });
    await recordBadge(tx, call, owner, { verb: 'created', id });
    return id;
  });
};
