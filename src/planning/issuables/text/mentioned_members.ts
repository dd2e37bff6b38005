import { sql } from 'kysely';
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import { today } from '../../../core/access/viewer.ts';
import { visibleGroups } from '../../../identity/groups/visible.ts';
import type { Tx } from '../../../platform/db/open.ts';

/** Members that one text mentions through groups; the longest memberships first. */
const maxMembers = 500;

/**
 * Loads the direct members of the groups that a text mentions, by the lower-case path of the group. Leaves out groups
 * that the author does not see and groups with `mentions_disabled`.
 */
export const loadMentionedMembers = async (
  tx: Tx,
  authorId: number,
  paths: readonly string[],
): Promise<Map<string, number[]>> => {
  const viewer = paths.length === 0 ? null : await loadActingViewer(tx.db, authorId, tx.now);
  if (viewer === null) return new Map();
  const { rows } = await sql<{ path: string; user_id: number }>`
    select routes.path, members.user_id from routes
    join namespaces on namespaces.id = routes.source_id
    join members on members.source_type = 'Namespace' and members.source_id = namespaces.id
    where routes.source_type = 'Namespace' and ${tx.dialect.oneOf('routes.path', paths)}
      and namespaces.mentions_disabled = 0 and ${visibleGroups(viewer, tx.dialect)}
      and (members.expires_at is null or members.expires_at > ${today(tx.now)})
    order by members.id limit ${sql.lit(maxMembers)}`.execute(tx.db);
  return new Map(
    [...Map.groupBy(rows, ({ path }) => path)].map(([path, members]) => [
      path,
      members.map(({ user_id }) => user_id),
    ]),
  );
};
