import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { getMinRole } from '../../core/access/min_role.ts';
import { allOf } from '../../core/access/visible.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  date,
  integer,
  integers,
  object,
  oneOf,
  optional,
  text,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { type GroupJson, groupsJson } from './json.ts';
import { visibilities } from './rules.ts';
import { groupsAtLeast, memberGroups, visibleGroups } from './visible.ts';

type Condition = RawBuilder<boolean>;

const never: Condition = sql<boolean>`1 = 0`;

export const groupListParams = {
  search: optional(text({ description: 'part of the name or path' })),
  owned: optional(boolean({ description: 'only groups that the caller owns' })),
  min_access_level: optional(integer({ description: 'only groups in which the caller has this role' })),
  all_available: optional(
    boolean({ description: 'all visible groups, not only groups that the caller belongs to' }),
  ),
  top_level_only: optional(boolean({ description: 'exclude subgroups' })),
  visibility: optional(oneOf(visibilities)),
  skip_groups: optional(integers({ description: 'ids to exclude' })),
  custom_attributes: unsupportedFilter(),
  repository_storage: unsupportedFilter(),
  marked_for_deletion_on: optional(date('always empty: groups are deleted immediately')),
  archived: optional(boolean({ description: 'true: empty, because groups are not archived' })),
  active: optional(boolean({ description: 'false: empty, because groups are not archived' })),
  order_by: oneOf(['name', 'path', 'id'], { default: 'name' }),
  sort: oneOf(['asc', 'desc'], { default: 'asc' }),
  ...pageParams,
};

const shape = object(groupListParams);
type Params = Static<typeof shape>;

/** Returns the default scope: all visible groups for anonymous callers and administrators, own groups for others. */
const scopeCondition = (call: Call, params: Params): Condition => {
  const { viewer, platform } = call;
  const { dialect } = platform.store;
  const level = getMinRole(params);
  if (level > 0) return groupsAtLeast(viewer, level, dialect);
  const isUnfiltered = viewer.user_id === null || (params.all_available ?? viewer.admin);
  return isUnfiltered ? visibleGroups(viewer, dialect) : memberGroups(viewer, dialect);
};

/** Over `namespaces`: the name or the path contains a text. */
const makeNameCondition = (search: string): Condition =>
  sql`(${containsText('namespaces.name', search)} or ${containsText('namespaces.path', search)})`;

const makeConditions = (call: Call, params: Params): Condition[] => {
  const { search = '', skip_groups = [], top_level_only, visibility } = params;
  const { archived, active, marked_for_deletion_on } = params;
  const isNone = archived === true || active === false || marked_for_deletion_on !== undefined;
  const conditions: (Condition | null)[] = [
    isNone ? never : scopeCondition(call, params),
    skip_groups.length === 0 ? null : sql`namespaces.id not in (${sql.join(skip_groups)})`,
    top_level_only === true ? sql`namespaces.parent_id is null` : null,
    visibility === undefined ? null : sql`namespaces.visibility = ${visibility}`,
    search === '' ? null : makeNameCondition(search),
  ];
  return conditions.filter((condition) => condition !== null);
};

const orders = {
  name: sql`lower(namespaces.name)`,
  path: sql`lower(namespaces.full_path)`,
  id: sql`namespaces.id`,
};

/**
 * Lists the first visible groups whose name or path contains a text, without their total. A text with a slash is
 * compared with the full path.
 */
export const suggestGroups = async (
  { db, viewer, platform }: Call,
  search: string,
  limit: number,
): Promise<{ name: string; full_path: string }[]> => {
  const matches = search.includes('/')
    ? containsText('namespaces.full_path', search)
    : makeNameCondition(search);
  return await db
    .selectFrom('namespaces')
    .select(['namespaces.name', 'namespaces.full_path'])
    .where(allOf([visibleGroups(viewer, platform.store.dialect), matches]))
    .orderBy(orders.path)
    .orderBy('namespaces.id')
    .limit(limit)
    .execute();
};

type Slice = Pick<PageRequest, 'limit' | 'offset'>;

/**
 * @param within a further condition over `namespaces`
 * @param slice default: the requested page
 */
export const listGroups = async (
  call: Call,
  params: Params,
  within?: Condition,
  { limit, offset }: Slice = pageRequest(params),
): Promise<Page<GroupJson>> => {
  const conditions = makeConditions(call, params);
  const query = call.db
    .selectFrom('namespaces')
    .where(allOf(within === undefined ? conditions : [...conditions, within]));
  const rows = await query
    .selectAll()
    .orderBy(orders[params.order_by], params.sort)
    .orderBy('namespaces.id', 'asc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await query
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items: await groupsJson(call, rows), total };
};
