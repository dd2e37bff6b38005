import type { RawBuilder } from 'kysely';
import type { Call } from '../../../../core/access/call.ts';
import { type Page, pageParams } from '../../../../platform/http/page.ts';
import { oneOf, optional } from '../../../../platform/http/schema.ts';
import { eventsJson } from '../../../events/json.ts';
import { type ActivityRow, type EventFilter, listActivities } from '../../../events/list_activities.ts';
import type { ShownEvent } from '../../parts/timeline/activity_list.ts';

/** Kinds of activity that a page can be limited to: actions of the events API, and `issues`. */
export const activityKinds = {
  pushed: 'Pushes',
  issues: 'Issues',
  commented: 'Comments',
  merged: 'Merges',
  joined: 'Members',
};

type ActivityKind = keyof typeof activityKinds;

/** Parameters of feeds, which have one page. */
export const feedParams = { action: optional(oneOf(Object.keys(activityKinds) as ActivityKind[])) };

export const activityParams = { ...feedParams, ...pageParams };

export type ActivityQuery = {
  action?: ActivityKind;
  /** Days, exclusive. */
  before?: string;
  after?: string;
  page: number;
  per_page: number;
};

/** Paths by project id. The rows are visible, so are their projects. */
const loadPaths = async ({ db }: Call, rows: readonly ActivityRow[]): Promise<Map<number, string>> => {
  const ids = [...new Set(rows.map(({ project_id }) => project_id))];
  if (ids.length === 0) return new Map();
  const projects = await db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where('id', 'in', ids)
    .execute();
  return new Map(projects.map(({ id, full_path }) => [id, full_path]));
};

/** Returns the kind of activity as filters of the events API. Comments on issues are comments. */
const toFilter = (action: ActivityKind | undefined): Pick<EventFilter, 'action' | 'target_type'> => {
  if (action === undefined) return {};
  return action === 'issues' ? { target_type: 'issue' } : { action };
};

/** Loads a page of activity that the viewer sees, the latest first. */
export const loadActivity = async (
  call: Call,
  scope: RawBuilder<boolean>,
  { action, ...query }: ActivityQuery,
): Promise<Page<ShownEvent>> => {
  const filter = { ...query, ...toFilter(action), sort: 'desc' } as const;
  const { items: rows, total } = await listActivities(call, scope, filter);
  const [events, paths] = await Promise.all([eventsJson(call, rows), loadPaths(call, rows)]);
  return {
    items: events.map((event) => ({ event, project_path: paths.get(event.project_id) ?? '' })),
    total,
  };
};
