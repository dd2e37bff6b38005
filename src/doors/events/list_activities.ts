import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { getSourcesAtLeast } from '../../core/access/viewer.ts';
import { levels } from '../../core/access/levels.ts';
import { allOf, anyOf } from '../../core/access/visible.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import type { ActivitiesTable } from '../../platform/db/schema/core.ts';
import { type Page, pageParams, pageRequest } from '../../platform/http/page.ts';
import { day, oneOf, optional } from '../../platform/http/schema.ts';
import { readMany } from '../../planning/issuables/lists/run_long_read.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { visibleActivities } from './visible_activities.ts';

export type ActivityRow = Selectable<ActivitiesTable>;

/** Actions and kinds of target as clients name them. Those without a counterpart here match nothing. */
const actions = [
  'approved',
  'closed',
  'commented',
  'created',
  'destroyed',
  'expired',
  'joined',
  'left',
  'merged',
  'pushed',
  'reopened',
  'updated',
] as const;

const targetTypes = {
  issue: ['Issue'],
  milestone: ['Milestone'],
  merge_request: ['MergeRequest'],
  note: ['Note', 'CommitComment'],
  project: ['Project'],
  snippet: ['Snippet'],
  user: ['User'],
  epic: ['Epic'],
  wiki: ['WikiPage::Meta'],
  design: ['DesignManagement::Design'],
} as const;

const scopeWords = ['all'] as const;

export const eventFilterParams = {
  scope: optional(oneOf(scopeWords, { description: "all: events of all users in the caller's projects" })),
  action: optional(oneOf(actions)),
  target_type: optional(oneOf(Object.keys(targetTypes) as (keyof typeof targetTypes)[])),
  before: optional(day('only events before this day')),
  after: optional(day('only events after this day')),
  sort: oneOf(['asc', 'desc'], { default: 'desc', description: 'sort by creation time' }),
  ...pageParams,
};

export type EventFilter = {
  scope?: (typeof scopeWords)[number];
  action?: (typeof actions)[number];
  target_type?: keyof typeof targetTypes;
  before?: string;
  after?: string;
  sort: 'asc' | 'desc';
  page: number;
  per_page: number;
};

type Condition = RawBuilder<boolean>;

const filterConditions = ({ action, target_type, before, after }: EventFilter): Condition[] => [
  ...(action === undefined ? [] : [sql<boolean>`activities.action = ${action}`]),
  ...(target_type === undefined
    ? []
    : [sql<boolean>`activities.target_type in (${sql.join([...targetTypes[target_type]])})`]),
  ...(before === undefined ? [] : [sql<boolean>`activities.created_at < ${Date.parse(before)}`]),
  ...(after === undefined
    ? []
    : [sql<boolean>`activities.created_at >= ${Date.parse(after) + dayMilliseconds}`]),
];

/** Activity in one project. */
export const inProject = (id: number): Condition => sql`activities.project_id = ${id}`;

/** Activity of one user. */
export const byAuthor = (id: number): Condition => sql`activities.author_id = ${id}`;

/** Activity in the projects of a group and of the groups below it. */
export const inGroup = (id: number): Condition =>
  sql`activities.project_id in (select id from projects where namespace_id in ${selectDescendants(id)})`;

/** Activity in the projects in which the caller is a member, directly or through a group. */
export const inOwnProjects = ({ viewer, platform }: Call): Condition => {
  const { projects, namespaces } = getSourcesAtLeast(viewer, levels.guest);
  const { dialect } = platform.store;
  return anyOf([dialect.oneOf('projects.id', projects), dialect.oneOf('projects.namespace_id', namespaces)]);
};

/** Lists the activity that the caller sees, the latest first by default. */
export const listActivities = async (
  call: Call,
  scope: Condition,
  filter: EventFilter,
): Promise<Page<ActivityRow>> => {
  const { dialect } = call.platform.store;
  const where = allOf([scope, ...filterConditions(filter), visibleActivities(call.viewer, dialect)]);
  const from = sql`from activities join projects on projects.id = activities.project_id where ${where}`;
  const { limit, offset } = pageRequest(filter);
  const order = sql.raw(filter.sort);
  const [items, counted] = await Promise.all([
    readMany(call, {
      query: sql<ActivityRow>`select activities.* ${from}
        order by activities.created_at ${order}, activities.id ${order} limit ${limit} offset ${offset}`,
      maxRecords: null,
    }),
    readMany(call, { query: sql<{ total: number }>`select count(*) as total ${from}`, maxRecords: null }),
  ]);
  return { items, total: counted[0]?.total ?? 0 };
};
