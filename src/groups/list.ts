import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import { type Page, pageParams, pageRequest } from '../http/page.ts';
import { boolean, integers, object, oneOf, optional, text } from '../http/schema.ts';
import { contains } from '../namespaces/search.ts';
import { groupsJson } from './json.ts';
import { groupsAtLeast, memberGroups, visibleGroups } from './visible.ts';

type Condition = RawBuilder<boolean>;

export const groupListParams = {
  search: optional(text({ description: 'part of the name or path' })),
  owned: optional(boolean({ description: 'only groups that the caller owns' })),
  all_available: optional(boolean({ description: 'all that the caller sees, not only those he belongs to' })),
  skip_groups: optional(integers({ description: 'ids to leave out' })),
  order_by: oneOf(['name', 'path', 'id'], { default: 'name' }),
  sort: oneOf(['asc', 'desc'], { default: 'asc' }),
  statistics: optional(boolean({ description: 'accepted, without effect' })),
  ...pageParams,
};

const shape = object(groupListParams);
type Params = Static<typeof shape>;

/** Nobody signed in and administrators: all there are for them; others: those they belong to. */
const scopeOf = (call: Call, { owned, all_available }: Params): Condition => {
  const { viewer, platform } = call;
  const { words } = platform.store;
  if (owned === true) return groupsAtLeast(viewer, levels.owner, words);
  const all = viewer.user_id === null || (all_available ?? viewer.admin);
  return all ? visibleGroups(viewer, words) : memberGroups(viewer, words);
};

const orders = {
  name: sql`lower(namespaces.name)`,
  path: sql`lower(namespaces.full_path)`,
  id: sql`namespaces.id`,
};

/** @param within over `namespaces`: a further condition */
export const listGroups = async (call: Call, params: Params, within?: Condition): Promise<Page<unknown>> => {
  const { search = '', skip_groups = [] } = params;
  const query = call.db
    .selectFrom('namespaces')
    .where(scopeOf(call, params))
    .$if(within !== undefined, (all) => all.where(within ?? sql<boolean>`1 = 1`))
    .$if(skip_groups.length > 0, (all) => all.where('namespaces.id', 'not in', skip_groups))
    .$if(search !== '', (all) =>
      all.where((is) => is.or([contains('namespaces.name', search), contains('namespaces.path', search)])),
    );
  const { limit, offset } = pageRequest(params);
  const rows = await query
    .selectAll()
    .orderBy(orders[params.order_by], params.sort)
    .orderBy('namespaces.id', 'asc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await query
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items: await groupsJson(call, rows), total };
};
