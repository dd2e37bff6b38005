/** Loads the notification settings and groups that may apply to a project. */
import { sql } from 'kysely';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import type { SentEvents } from '../../projects/notification_settings/levels.ts';
import type { LevelSetting } from './levels.ts';

/** A group above a project, the nearest first. */
type GroupFacts = { id: number; emails_disabled: number };

/** Loads the namespace of a project and the groups above it. */
export const loadGroups = async (db: Reader, namespaceId: number): Promise<GroupFacts[]> => {
  const { rows } = await sql<GroupFacts>`
    select id, emails_disabled from namespaces where id in ${selectAncestors(namespaceId)}
    order by length(full_path) desc`.execute(db);
  return rows;
};

type StoredRow = LevelSetting & { user_id: number; project_id: number | null; group_id: number | null };

/** Loads the notification settings of users that may apply to a project. */
export const loadSettings = async (
  { db, dialect }: Pick<Tx, 'db' | 'dialect'> | Store,
  userIds: readonly number[],
  { project, groupIds }: { project: { id: number }; groupIds: readonly number[] },
): Promise<Map<number, StoredRow[]>> => {
  const rows = await db
    .selectFrom('notification_settings')
    .select(['user_id', 'project_id', 'group_id', 'level', 'events'])
    .where(dialect.oneOf('user_id', userIds))
    .where((is) =>
      is.or([
        is('project_id', '=', project.id),
        dialect.oneOf('group_id', groupIds),
        is.and([is('project_id', 'is', null), is('group_id', 'is', null)]),
      ]),
    )
    .execute();
  const parsed = rows.map((row) => ({ ...row, events: JSON.parse(row.events) as SentEvents }));
  return Map.groupBy(parsed, ({ user_id }) => user_id);
};
