import { loadActingViewer } from '../../core/access/background_actor.ts';
import { groupRules, projectRules } from '../../core/access/may.ts';
import { getNamespaceLevel, getProjectLevel } from '../../core/access/viewer.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Invitation } from './links.ts';

/**
 * Returns whether the user who sent an invitation could grant its role now: an invitation of somebody who was blocked,
 * deleted or removed since gives nothing.
 */
export const isStillGranted = async (
  { db, now }: { db: Reader; now: number },
  { created_by_id, source_type, source_id, access_level }: Invitation,
): Promise<boolean> => {
  const inviter = created_by_id === null ? null : await loadActingViewer(db, created_by_id, now);
  if (inviter === null) return false;
  if (source_type === 'Namespace') {
    const least = Math.max(groupRules.admin_group_member.level, access_level);
    return getNamespaceLevel(inviter, source_id) >= least;
  }
  const project = await db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('id', '=', source_id)
    .executeTakeFirst();
  const least = Math.max(projectRules.admin_member.level, access_level);
  return project !== undefined && getProjectLevel(inviter, project) >= least;
};
