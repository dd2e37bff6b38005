import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { allOf } from '../../../core/access/visible.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, object, oneOf, optional } from '../../../platform/http/schema.ts';
import { projectsJson } from '../json.ts';
import { projectConditions, projectFilters } from './list_filters.ts';
import { projectRows } from '../rows.ts';

type Condition = RawBuilder<boolean>;

export const projectOrders = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'last_activity_at',
  'star_count',
] as const;

export const projectListParams = {
  ...projectFilters,
  simple: optional(boolean({ description: 'only the basic fields' })),
  statistics: optional(boolean({ description: 'include sizes (reporters)' })),
  order_by: oneOf(projectOrders, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  ...pageParams,
};

const shape = object(projectListParams);
type Params = Static<typeof shape>;

const orders: Record<Params['order_by'], RawBuilder<unknown>> = {
  id: sql`projects.id`,
  name: sql`lower(projects.name)`,
  path: sql`lower(projects.path)`,
  created_at: sql`projects.created_at`,
  updated_at: sql`projects.updated_at`,
  last_activity_at: sql`projects.last_activity_at`,
  star_count: sql`project_counters.star_count`,
};

/** The part of a list to return. */
export type Slice = Pick<PageRequest, 'limit' | 'offset'>;

/** Selects the ids of a page: whole rows of all matches would take ten times as long to sort. */
const pageOfIds = (call: Call, params: Params, where: Condition, { limit, offset }: Slice) =>
  call.db
    .selectFrom('projects')
    .$if(params.order_by === 'star_count', (query) =>
      query.innerJoin('project_counters', 'project_counters.project_id', 'projects.id'),
    )
    .select('projects.id')
    .where(where)
    .orderBy(orders[params.order_by], params.sort)
    .orderBy('projects.id', params.sort)
    .limit(limit)
    .offset(offset);

/**
 * Lists visible projects.
 * @param within a further condition over `projects`
 * @param slice default: the requested page
 */
export const listProjects = async (
  call: Call,
  params: Params,
  within?: Condition,
  slice: Slice = pageRequest(params),
): Promise<Page<unknown>> => {
  const where = allOf([...projectConditions(call, params), ...(within === undefined ? [] : [within])]);
  const rows = await projectRows(call)
    .where('projects.id', 'in', pageOfIds(call, params, where, slice))
    .orderBy(orders[params.order_by], params.sort)
    .orderBy('projects.id', params.sort)
    .execute();
  const { total } = await call.db
    .selectFrom('projects')
    .where(where)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const detail = params.simple === true ? 'basic' : 'full';
  return { items: await projectsJson(call, rows, detail, params.statistics === true), total };
};
