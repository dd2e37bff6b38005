import { sql } from 'kysely';
import { today } from '../../../core/access/viewer.ts';
import type { Reader } from '../../../platform/db/open.ts';

export type Membership = {
  source_id: number;
  source_name: string;
  source_type: 'Project' | 'Namespace';
  access_level: number;
  full_path: string;
  expires_at: string | null;
};

type Query = { type?: Membership['source_type'] | undefined; limit: number; offset: number };

/** Lists a user's own memberships of projects and groups that exist, oldest first, for administrators. */
export const listMemberships = async (
  { db, now }: { db: Reader; now: number },
  userId: number,
  { type, limit, offset }: Query,
): Promise<{ items: Membership[]; total: number }> => {
  const query = db
    .selectFrom('members')
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'members.source_id').on('members.source_type', '=', 'Project'),
    )
    .leftJoin('namespaces', (join) =>
      join.onRef('namespaces.id', '=', 'members.source_id').on('members.source_type', '=', 'Namespace'),
    )
    .where('members.user_id', '=', userId)
    .where(sql<boolean>`(members.expires_at is null or members.expires_at > ${today(now)})`)
    .where(sql<boolean>`case when members.source_type = 'Project'
      then projects.deleted_at is null else namespaces.deleted_at is null end`)
    .$if(type !== undefined, (all) => all.where(sql<boolean>`members.source_type = ${type}`));
  const [items, { total }] = await Promise.all([
    query
      .select(['members.source_id', 'members.source_type', 'members.access_level', 'members.expires_at'])
      .select(sql<string>`coalesce(projects.name, namespaces.name)`.as('source_name'))
      .select(sql<string>`coalesce(projects.full_path, namespaces.full_path)`.as('full_path'))
      .orderBy('members.id')
      .limit(limit)
      .offset(offset)
      .execute(),
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
};
