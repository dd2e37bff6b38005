import { type RawBuilder, type Selectable, sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { today } from '../../core/access/viewer.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { MembersTable } from '../../platform/db/schema/identity.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { type PageRequest, withTotal } from '../../platform/http/page.ts';
import { botOf } from '../../identity/bots/bot_users.ts';
import { invitedGroups } from '../../identity/groups/group_links.ts';
import { basicUserColumns } from '../../identity/users/json.ts';
import { searchPattern } from '../../identity/users/search_text.ts';
import type { MemberRow } from './json.ts';
import { type Source, allMembers, directMembers } from './member_source.ts';

/** A membership ends at 00:00 (UTC) of its expiry date. */
const isCurrent = (now: number) =>
  sql<boolean>`(members.expires_at is null or members.expires_at > ${today(now)})`;

export type MemberFilter = {
  /** Part of the name or user name. */
  query: string;
  /** Whether members of the groups above, and of groups with which it is shared, are included. */
  inherited: boolean;
  now: number;
  /** Only these users. */
  user_ids?: readonly number[] | undefined;
  skip_users?: readonly number[] | undefined;
};

const columns = [
  ...basicUserColumns,
  'ranked.access_level',
  'ranked.expires_at',
  'ranked.created_at',
  'ranked.created_by_id',
  'ranked.source_type',
  'ranked.source_id',
] as const;

/** A member with the project or group of the membership. */
export type ListedMember = MemberRow & { source_type: SourceType; source_id: number };

type MembershipRow = Omit<Selectable<MembersTable>, 'id'>;

const ownMembers = (source: Source): RawBuilder<MembershipRow> =>
  sql`(select * from members where ${directMembers(source)})`;

/**
 * Subquery: the memberships that give a role in the source: its own, those of the groups above it, and those of the
 * groups with which any of these is shared, with the lesser role and the earlier last day.
 */
const reachingMembers = (source: Source, now: number): RawBuilder<MembershipRow> => {
  const rest = sql`created_at, created_by_id, source_type, source_id`;
  return sql`(select user_id, access_level, expires_at, ${rest} from members where ${allMembers(source)}
    union all
    select user_id, case when access < access_level then access else access_level end,
      case when invited.expires_at is null or members.expires_at < invited.expires_at
        then members.expires_at else invited.expires_at end, ${rest}
    from ${invitedGroups(source, now)} as invited
    join members on source_type = 'Namespace' and source_id = invited.id)`;
};

/** The first membership of each user: the highest role, its last day; of equal ones, the direct membership. */
const place = (source: Source) => sql<number>`row_number() over (partition by members.user_id
  order by members.access_level desc, members.expires_at is null desc, members.expires_at desc,
  ${directMembers(source)} desc)`;

/** Selects each user once with the highest role and the last day of that role. */
const current = (db: Reader, source: Source, filter: MemberFilter) => {
  const { query, inherited, now, user_ids = [], skip_users = [] } = filter;
  const highest = db
    .selectFrom((inherited ? reachingMembers(source, now) : ownMembers(source)).as('members'))
    .select(['members.user_id', 'members.access_level', 'members.expires_at'])
    .select(['members.created_at', 'members.created_by_id', 'members.source_type', 'members.source_id'])
    // A user has one direct membership, so a page of these is read along their index.
    .select((inherited ? place(source) : sql<number>`1`).as('place'))
    .where(isCurrent(now))
    .$if(user_ids.length > 0, (query) => query.where('members.user_id', 'in', user_ids))
    .$if(skip_users.length > 0, (query) => query.where('members.user_id', 'not in', skip_users));
  return db
    .selectFrom(highest.as('ranked'))
    .innerJoin('users', 'users.id', 'ranked.user_id')
    .where('ranked.place', '=', 1)
    .$if(query.trim() !== '', (matching) =>
      matching.where(sql<boolean>`users.search_text like ${searchPattern(query)} escape '\\'`),
    );
};

/** Lists a page of members by the age of their accounts, with the total. */
export const listMembers = async (
  db: Reader,
  source: Source,
  filter: MemberFilter,
  page: PageRequest,
): Promise<{ rows: ListedMember[]; total: number }> => {
  const query = current(db, source, filter);
  const ordered = query.select(columns).orderBy('ranked.user_id');
  const { items: rows, total } = await withTotal(
    page,
    await ordered.limit(page.limit).offset(page.offset).execute(),
    async () => await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
  return { rows, total };
};

export const findMember = async (
  db: Reader,
  source: Source,
  filter: MemberFilter,
): Promise<MemberRow | undefined> => await current(db, source, filter).select(columns).executeTakeFirst();

export type Membership = { id: number; user_id: number; access_level: number; expires_at: string | null };

/** Loads the direct membership of a user, even an expired one. */
export const loadMembership = async (
  tx: Tx,
  source: Source,
  userId: number,
): Promise<Membership | undefined> =>
  await tx.db
    .selectFrom('members')
    .select(['id', 'user_id', 'access_level', 'expires_at'])
    .where(directMembers(source))
    .where('user_id', '=', userId)
    .executeTakeFirst();

export const hasEnded = ({ expires_at }: Membership, now: number): boolean =>
  expires_at !== null && expires_at <= today(now);

/** Returns whether another user, who is no bot, owns the group, directly or through a group above. */
export const hasOtherOwner = async (tx: Tx, group: Source, userId: number): Promise<boolean> => {
  const other = await tx.db
    .selectFrom('members')
    .select('id')
    .where(allMembers(group))
    .where('access_level', '=', levels.owner)
    .where('user_id', '<>', userId)
    .where(isCurrent(tx.now))
    .where(sql<boolean>`not exists ${botOf(sql.ref('members.user_id'))}`)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
};

/** Returns the owner of the personal namespace of a project; null: it is in a group. */
export const personalOwner = async (tx: Tx, { namespace_id }: Source): Promise<number | null> => {
  const row = await tx.db
    .selectFrom('namespaces')
    .select('owner_id')
    .where('id', '=', namespace_id)
    .where('kind', '=', 'user')
    .executeTakeFirst();
  return row?.owner_id ?? null;
};
