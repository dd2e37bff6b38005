import type { Call } from '../../core/access/call.ts';
import { isCurrentLink } from '../../identity/groups/group_links.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import type { Source } from './member_source.ts';
import type { Share } from './share.ts';

/** A group with which something is shared; null for both texts: the caller does not see the group. */
export type ListedShare = Share & { name: string | null; full_path: string | null };

/** Lists the groups that a project or group is shared with, including groups that the caller does not see. */
export const listShares = async (
  { db, viewer, platform, now }: Pick<Call, 'db' | 'viewer' | 'platform' | 'now'>,
  { type, id }: Source,
): Promise<ListedShare[]> =>
  await db
    .selectFrom('group_links')
    .leftJoin('namespaces', (join) =>
      join
        .onRef('namespaces.id', '=', 'group_links.group_id')
        .on(visibleGroups(viewer, platform.store.dialect)),
    )
    .select(['group_id', 'group_access', 'group_links.expires_at', 'namespaces.name', 'namespaces.full_path'])
    .where('source_type', '=', type)
    .where('source_id', '=', id)
    .where(isCurrentLink(now))
    .orderBy('group_links.id')
    .execute();
