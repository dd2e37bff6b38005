import { type RawBuilder, type Selectable, sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { today } from '../../core/access/viewer.ts';
import { allOf, anyOf } from '../../core/access/visible.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { MembersTable } from '../../platform/db/schema/identity.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { type PageRequest, withTotal } from '../../platform/http/page.ts';
import { selectBot } from '../../identity/bots/is_bot.ts';
import { invitedGroups } from '../../identity/groups/group_links.ts';
import { basicUserColumns } from '../../identity/users/json.ts';
import { containsTyped } from '../../identity/users/search_text.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import type { MemberRow } from './json.ts';
import { type Source, allMembers, directMembers } from './member_source.ts';

/** A membership ends at 00:00 (UTC) of its expiry date. */
export const isCurrentMember = (now: number) =>
  sql<boolean>`(members.expires_at is null or members.expires_at > ${today(now)})`;

export type MemberFilter = {
  /** Part of the name or user name. */
  query: string;
  /** True to include members of parent groups and of groups it is shared with. */
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

/** Which memberships of a source are read. `users`: a query of their ids, which gives the memberships. */
type MemberRequest = Pick<MemberFilter, 'inherited' | 'now'> & { users: RawBuilder<unknown> };

/**
 * Subquery: the memberships that give these users a role in the source: direct memberships, memberships of parent
 * groups, and memberships of groups that any of these is shared with, with the lesser role and the earlier last day.
 */
const reachingMembers = (
  source: Source,
  { inherited, now, users }: MemberRequest,
): RawBuilder<MembershipRow> => {
  const theirs = sql`(${users}) as requested cross join members`;
  const otherColumns = sql`created_at, created_by_id, source_type, source_id`;
  const direct = inherited ? allMembers(source) : directMembers(source);
  const own = sql`select members.user_id, access_level, expires_at, ${otherColumns} from ${theirs}
    where members.user_id = requested.user_id and ${direct}`;
  if (!inherited) return sql`(${own})`;
  return sql`(${own}
    union all
    select members.user_id, case when access < access_level then access else access_level end,
      case when invited.expires_at is null or members.expires_at < invited.expires_at
        then members.expires_at else invited.expires_at end, ${otherColumns}
    from ${theirs} cross join ${invitedGroups(source, now)} as invited
    where members.user_id = requested.user_id and source_type = 'Namespace' and source_id = invited.id)`;
};

/** The first membership of each user: the highest role, its last day; if roles are equal, the direct membership. */
const place = (source: Source) => sql<number>`row_number() over (partition by members.user_id
  order by members.access_level desc, members.expires_at is null desc, members.expires_at desc,
  ${directMembers(source)} desc)`;

/** Selects each of these users once with the highest role and the last day of that role. */
const current = (db: Reader, source: Source, requested: MemberRequest) => {
  const highest = db
    .selectFrom(reachingMembers(source, requested).as('members'))
    .select(['members.user_id', 'members.access_level', 'members.expires_at'])
    .select(['members.created_at', 'members.created_by_id', 'members.source_type', 'members.source_id'])
    .select(place(source).as('place'))
    .where(isCurrentMember(requested.now));
  return db
    .selectFrom(highest.as('ranked'))
    .innerJoin('users', 'users.id', 'ranked.user_id')
    .select(columns)
    .where('ranked.place', '=', 1);
};

/**
 * The groups whose members have a role in the source: its parent groups, and the groups that any of these is shared
 * with.
 */
const reachingGroups = async (db: Reader, source: Source, now: number): Promise<number[]> => {
  const { rows } = await sql<{ id: number }>`
    select id from ${selectAncestors(source.namespace_id)} as above
    union select id from ${invitedGroups(source, now)} as invited`.execute(db);
  return rows.map(({ id }) => id);
};

/** Ids of groups, and of a project or null. */
type Places = { project: number | null; groups: readonly number[] };

/** The project or group itself, and all groups whose members have a role in it. */
const loadPlaces = async (db: Reader, source: Source, { inherited, now }: MemberFilter): Promise<Places> => {
  const isProject = source.type === 'Project';
  const own = isProject ? [] : [source.id];
  const groups = inherited ? [...own, ...(await reachingGroups(db, source, now))] : own;
  return { project: isProject ? source.id : null, groups: [...new Set(groups)] };
};

/** Over `members`. */
const matchesFilter = ({ query, now, user_ids = [], skip_users = [] }: MemberFilter): RawBuilder<boolean> =>
  allOf([
    isCurrentMember(now),
    ...(user_ids.length > 0 ? [sql<boolean>`user_id in (${sql.join([...user_ids])})`] : []),
    ...(skip_users.length > 0 ? [sql<boolean>`user_id not in (${sql.join([...skip_users])})`] : []),
    ...(query.trim() === ''
      ? []
      : [
          sql<boolean>`exists (select 1 from users where users.id = members.user_id
            and ${containsTyped('users.search_text', query)})`,
        ]),
  ]);

const inPlace = (type: SourceType, ids: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`(source_type = ${type} and source_id in (${sql.join([...ids])}))`;

const toConditions = ({ project, groups }: Places): RawBuilder<boolean>[] => [
  ...(project === null ? [] : [inPlace('Project', [project])]),
  ...groups.map((id) => inPlace('Namespace', [id])),
];

/** SQLite takes at most 500 parts of one statement. */
const partsAtOnce = 100;

/** Joins lists of users. Reads at most the first `limit` of each list. */
const selectFirst = (lists: readonly RawBuilder<unknown>[], limit: number): RawBuilder<unknown> =>
  sql`select distinct user_id from (${sql.join(
    lists.map((list) => sql`select user_id from (${list} order by user_id limit ${limit}) as part`),
    sql` union all `,
  )}) as parts`;

/** Subquery: the users of a page. Each place is read along its index by user, up to the end of the page. */
const usersOfPage = (
  places: Places,
  filter: MemberFilter,
  { limit, offset }: PageRequest,
): RawBuilder<unknown> => {
  const isRequested = matchesFilter(filter);
  const lists = toConditions(places).map(
    (place) => sql`select user_id from members where ${place} and ${isRequested}`,
  );
  const end = offset + limit;
  const parts: RawBuilder<unknown>[] = [];
  for (let at = 0; at < lists.length; at += partsAtOnce)
    parts.push(selectFirst(lists.slice(at, at + partsAtOnce), end));
  return sql`${selectFirst(parts, end)} order by user_id limit ${limit} offset ${offset}`;
};

const countUsers = async (
  db: Reader,
  { project, groups }: Places,
  filter: MemberFilter,
): Promise<{ total: number }> => {
  const inGroups = groups.length === 0 ? [] : [inPlace('Namespace', groups)];
  const places = [...(project === null ? [] : [inPlace('Project', [project])]), ...inGroups];
  const { rows } = await sql<{ total: number }>`
    select count(distinct user_id) as total from members
    where ${anyOf(places)} and ${matchesFilter(filter)}`.execute(db);
  return rows[0] ?? { total: 0 };
};

/** Lists a page of members by the age of their accounts, with the total. */
export const listMembers = async (
  db: Reader,
  source: Source,
  filter: MemberFilter,
  page: PageRequest,
): Promise<{ rows: ListedMember[]; total: number }> => {
  const places = await loadPlaces(db, source, filter);
  const users = usersOfPage(places, filter, page);
  const { items: rows, total } = await withTotal(
    page,
    await current(db, source, { ...filter, users })
      .orderBy('ranked.user_id')
      .execute(),
    async () => await countUsers(db, places, filter),
  );
  return { rows, total };
};

export const findMember = async (
  db: Reader,
  source: Source,
  requested: Pick<MemberFilter, 'inherited' | 'now'> & { user_id: number },
): Promise<MemberRow | undefined> =>
  await current(db, source, {
    ...requested,
    users: sql`select cast(${requested.user_id} as bigint) as user_id`,
  }).executeTakeFirst();

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

/** Returns whether another user who is not a bot owns the group, directly or through a parent group. */
export const hasOtherOwner = async (tx: Tx, group: Source, userId: number): Promise<boolean> => {
  const otherOwner = await tx.db
    .selectFrom('members')
    .select('id')
    .where(allMembers(group))
    .where('access_level', '=', levels.owner)
    .where('user_id', '<>', userId)
    .where(isCurrentMember(tx.now))
    .where(sql<boolean>`not exists ${selectBot(sql.ref('members.user_id'))}`)
    .limit(1)
    .executeTakeFirst();
  return otherOwner !== undefined;
};

/** Returns the owner of the personal namespace of a project; null if it is in a group. */
export const personalOwner = async (tx: Tx, { namespace_id }: Source): Promise<number | null> => {
  const row = await tx.db
    .selectFrom('namespaces')
    .select('owner_id')
    .where('id', '=', namespace_id)
    .where('kind', '=', 'user')
    .executeTakeFirst();
  return row?.owner_id ?? null;
};
