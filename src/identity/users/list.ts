/** The list of users with its filters and orders. */
import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import { forbidden, missingAttribute } from '../../platform/errors.ts';
import { type Page, pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  integers,
  object,
  oneOf,
  optional,
  text,
  time,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { accounts, basicUser } from './json.ts';
import { type UserRow, userColumns } from './queries.ts';
import { containsTyped } from './search_text.ts';

/** Filters by attributes that only administrators see. */
const administratorFilters = {
  external: optional(boolean({ description: 'only external users (administrators)' })),
  exclude_external: optional(boolean({ description: 'exclude external users (administrators)' })),
  admins: optional(boolean({ description: 'only administrators (administrators)' })),
  two_factor: optional(
    oneOf(['enabled', 'disabled'], { description: 'filter by second factor (administrators)' }),
  ),
  without_projects: optional(boolean({ description: 'only users without projects (administrators)' })),
  provider: optional(text({ description: 'filter by identity, with `extern_uid` (administrators)' })),
  extern_uid: optional(text({ description: 'filter by identity, with `provider` (administrators)' })),
  auditors: optional(boolean({ description: 'only auditors: always empty (administrators)' })),
};

export const userListParams = object({
  username: optional(text({ description: 'exact user name, case-insensitive' })),
  search: optional(text({ description: 'part of the name or user name, or an exact email address' })),
  public_email: optional(text({ description: 'exact public email address, case-insensitive' })),
  ids: optional(integers()),
  active: optional(boolean({ description: 'only active users' })),
  blocked: optional(boolean({ description: 'only blocked users' })),
  exclude_active: optional(boolean({ description: 'exclude active users' })),
  humans: optional(boolean({ description: 'exclude internal users' })),
  exclude_humans: optional(boolean({ description: 'only internal users' })),
  exclude_internal: optional(boolean({ description: 'exclude internal users' })),
  without_project_bots: optional(boolean({ description: 'exclude bots of access tokens' })),
  skip_ldap: optional(boolean({ description: 'accepted: LDAP is not supported' })),
  ...administratorFilters,
  created_after: optional(time()),
  created_before: optional(time()),
  saml_provider_id: unsupportedFilter(),
  custom_attributes: unsupportedFilter(),
  created_by: unsupportedFilter(),
  status: unsupportedFilter(),
  order_by: oneOf(['id', 'name', 'username', 'created_at', 'updated_at'], { default: 'id' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  ...pageParams,
});

type Params = Static<typeof userListParams>;
type Filters = Omit<Params, 'page' | 'per_page' | 'order_by' | 'sort'>;
type Condition = RawBuilder<boolean>;

/**
 * Condition: part of the name or user name, or an exact address: any address for administrators, else the public one.
 */
const matchesSearch = (search: string, admin: boolean): Condition => {
  const email = search.trim().toLowerCase();
  const address = admin ? sql`lower(users.email) = ${email} or` : sql``;
  return sql<boolean>`(${containsTyped('users.search_text', search)}
    or ${address} lower(users.public_email) = ${email})`;
};

const withoutProjects = sql<boolean>`not exists (select 1 from members
    where members.user_id = users.id and members.source_type = 'Project')
  and not exists (select 1 from namespaces join projects on projects.namespace_id = namespaces.id
    where namespaces.owner_id = users.id and projects.deleted_at is null)`;

const hasIdentity = (provider: string, externUid: string): Condition =>
  sql<boolean>`exists (select 1 from user_identities where user_identities.user_id = users.id
    and user_identities.provider = ${provider} and user_identities.extern_uid = ${externUid})`;

/** Returns the filters for administrators. @throws Failure 403 for others, 400 if half of an identity is missing */
const administratorConditions = (params: Filters, admin: boolean): (Condition | null)[] => {
  const names = Object.keys(administratorFilters) as (keyof typeof administratorFilters)[];
  const isUsed = names.some((name) => params[name] !== undefined && params[name] !== false);
  if (isUsed && !admin) throw forbidden();
  const { two_factor, provider, extern_uid } = params;
  if (provider === undefined && extern_uid !== undefined) throw missingAttribute('provider');
  if (extern_uid === undefined && provider !== undefined) throw missingAttribute('extern_uid');
  return [
    params.external === true ? sql`users.external = 1` : null,
    params.exclude_external === true ? sql`users.external = 0` : null,
    params.admins === true ? sql`users.admin = 1` : null,
    two_factor === undefined ? null : sql`users.two_factor_enabled = ${two_factor === 'enabled' ? 1 : 0}`,
    params.without_projects === true ? withoutProjects : null,
    params.auditors === true ? sql`1 = 0` : null,
    provider === undefined || extern_uid === undefined ? null : hasIdentity(provider, extern_uid),
  ];
};

/** Omits the ghost, unless its exact name is requested. */
const kindConditions = ({ username, ...params }: Filters): (Condition | null)[] => [
  username === undefined ? sql`users.ghost = 0` : sql`lower(users.username) = ${username.toLowerCase()}`,
  params.humans === true || params.exclude_internal === true ? sql`users.ghost = 0` : null,
  params.humans === true || params.without_project_bots === true
    ? sql`not exists (select 1 from bots where bots.user_id = users.id)`
    : null,
  params.exclude_humans === true ? sql`users.ghost = 1` : null,
];

const makeConditions = (params: Filters, admin: boolean): Condition[] => {
  const { search = '', public_email = '', ids = [], created_after, created_before } = params;
  const conditions: (Condition | null)[] = [
    ...kindConditions(params),
    ...administratorConditions(params, admin),
    search.trim() === '' ? null : matchesSearch(search, admin),
    public_email === '' ? null : sql`lower(users.public_email) = ${public_email.trim().toLowerCase()}`,
    ids.length === 0 ? null : sql`users.id in (${sql.join(ids)})`,
    params.active === true ? sql`users.state = 'active'` : null,
    params.blocked === true ? sql`users.state = 'blocked'` : null,
    params.exclude_active === true ? sql`users.state <> 'active'` : null,
    created_after === undefined ? null : sql`users.created_at >= ${created_after}`,
    created_before === undefined ? null : sql`users.created_at <= ${created_before}`,
  ];
  return conditions.filter((condition) => condition !== null);
};

/** The administrators' page also orders by activity. */
type Order = Params['order_by'] | 'last_activity_on';

const orderColumns: Record<Order, RawBuilder<unknown>> = {
  id: sql`users.id`,
  name: sql`users.search_text`,
  username: sql`lower(users.username)`,
  created_at: sql`users.created_at`,
  updated_at: sql`users.updated_at`,
  // As the index has it: the engines place nulls differently.
  last_activity_on: sql`coalesce(users.last_activity_on, '')`,
};

/** Loads a page of users, with the total. */
export const selectUsers = async (
  db: Reader,
  params: Omit<Params, 'page' | 'per_page' | 'order_by'> & { order_by: Order },
  { limit, offset, admin }: { limit: number; offset: number; admin: boolean },
): Promise<{ rows: UserRow[]; total: number }> => {
  const where = sql<boolean>`${sql.join(makeConditions(params, admin), sql` and `)}`;
  // Only administrators may order by the time of change, which reveals administrative changes.
  const order = params.order_by === 'updated_at' && !admin ? 'id' : params.order_by;
  const { total } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(where)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('users')
    .select(userColumns)
    .where(where)
    .orderBy(orderColumns[order], params.sort)
    .orderBy('users.id', params.sort)
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total };
};

/** Lists users; for administrators, with their accounts. */
export const listUsers = async (call: Call, params: Params): Promise<Page<unknown>> => {
  const { db, admin } = call;
  const { rows, total } = await selectUsers(db, params, { ...pageRequest(params), admin });
  if (!admin) return { items: rows.map((user) => basicUser(user, call)), total };
  return { items: await accounts(db, rows, call, { administered: true }), total };
};
