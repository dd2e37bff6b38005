import { type RawBuilder, sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { today } from '../../core/access/viewer.ts';
import { anyOf } from '../../core/access/visible.ts';
import { selectBot } from '../../identity/bots/is_bot.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import type { Reader } from '../../platform/db/open.ts';

export type Responsible = { name: string; username: string };

/** A project, or a group (`project_id` null). */
type Place = { project_id: number | null; namespace_id: number };

/**
 * Loads users who can give others a role in a source: active owners and maintainers, highest role first. Omits members
 * of groups it is shared with.
 */
export const loadResponsible = async (
  db: Reader,
  { project_id, namespace_id }: Place,
  { now, limit }: { now: number; limit: number },
): Promise<Responsible[]> => {
  const inGroups = sql<boolean>`(members.source_type = 'Namespace'
    and members.source_id in ${selectAncestors(namespace_id)})`;
  const inProject: RawBuilder<boolean>[] =
    project_id === null
      ? []
      : [sql<boolean>`(members.source_type = 'Project' and members.source_id = ${project_id})`];
  // Maintainers of a group cannot change its members.
  const least = project_id === null ? levels.owner : levels.master;
  const { rows } = await sql<Responsible>`select users.name, users.username
    from members join users on users.id = members.user_id
    where ${anyOf([...inProject, inGroups])} and members.access_level >= ${least}
      and (members.expires_at is null or members.expires_at > ${today(now)})
      and users.state = 'active' and not exists ${selectBot(sql.ref('users.id'))}
    group by users.id, users.name, users.username
    order by max(members.access_level) desc, users.id limit ${limit}`.execute(db);
  return rows;
};
