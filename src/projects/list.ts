import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { levels, memberLevels } from '../access/levels.ts';
import { allOf, projectsAtLeast, visibleFeature, visibleProjects } from '../access/visible.ts';
import { invalid } from '../errors.ts';
import { type Page, pageParams, pageRequest } from '../http/page.ts';
import { boolean, integer, object, oneOf, optional, text } from '../http/schema.ts';
import { visibilities } from '../groups/rules.ts';
import { contains } from '../namespaces/search.ts';
import { projectsJson } from './json.ts';
import { projectRows } from './rows.ts';

type Condition = RawBuilder<boolean>;

export const projectListParams = {
  archived: optional(boolean()),
  visibility: optional(oneOf(visibilities)),
  search: optional(text({ description: 'part of the name or of the full path' })),
  owned: optional(boolean({ description: 'only projects that the caller owns' })),
  membership: optional(boolean({ description: 'only projects of which the caller is a member' })),
  starred: optional(boolean({ description: 'only starred projects: none, for none can be starred' })),
  min_access_level: optional(integer({ description: 'only projects in which the caller has this role' })),
  with_issues_enabled: optional(boolean()),
  with_merge_requests_enabled: optional(boolean()),
  simple: optional(boolean({ description: 'only the basic fields' })),
  statistics: optional(boolean({ description: 'also how large they are, where the caller is a reporter' })),
  order_by: oneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
    default: 'created_at',
  }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  ...pageParams,
};

const shape = object(projectListParams);
type Params = Static<typeof shape>;

const smallestRole = ({ owned, membership, min_access_level = 0 }: Params): number => {
  if (min_access_level !== 0 && !memberLevels.includes(min_access_level)) {
    throw invalid({ min_access_level: ['does not have a valid value'] });
  }
  return Math.max(
    min_access_level,
    membership === true ? levels.guest : 0,
    owned === true ? levels.owner : 0,
  );
};

const conditionsOf = ({ viewer, platform }: Call, params: Params): Condition[] => {
  const { words } = platform.store;
  const { archived, visibility, search = '', starred } = params;
  const level = smallestRole(params);
  const own = { ...viewer, admin: false };
  const found: (Condition | null)[] = [
    visibleProjects(viewer, words),
    archived === undefined ? null : sql`projects.archived = ${archived ? 1 : 0}`,
    visibility === undefined ? null : sql`projects.visibility = ${visibility}`,
    search === ''
      ? null
      : sql`(${contains('projects.name', search)} or ${contains('projects.full_path', search)})`,
    // An administrator's own projects are those where he was given a role.
    level === 0 ? null : projectsAtLeast(own, level, words),
    starred === true ? sql`1 = 0` : null,
    params.with_issues_enabled === true ? visibleFeature(viewer, 'issues_access_level', words) : null,
    params.with_merge_requests_enabled === true
      ? visibleFeature(viewer, 'merge_requests_access_level', words)
      : null,
  ];
  return found.filter((condition) => condition !== null);
};

const orders: Record<Params['order_by'], RawBuilder<unknown>> = {
  id: sql`projects.id`,
  name: sql`lower(projects.name)`,
  path: sql`lower(projects.path)`,
  created_at: sql`projects.created_at`,
  updated_at: sql`projects.updated_at`,
  last_activity_at: sql`projects.last_activity_at`,
};

/** @param within over `projects`: a further condition */
export const listProjects = async (
  call: Call,
  params: Params,
  within?: Condition,
): Promise<Page<unknown>> => {
  const where = allOf([...conditionsOf(call, params), ...(within === undefined ? [] : [within])]);
  const { limit, offset } = pageRequest(params);
  const rows = await projectRows(call.db)
    .where(where)
    .orderBy(orders[params.order_by], params.sort)
    .orderBy('projects.id', params.sort)
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await call.db
    .selectFrom('projects')
    .where(where)
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const detail = params.simple === true ? 'basic' : 'full';
  return { items: await projectsJson(call, rows, detail, params.statistics === true), total };
};
