import { sql } from 'kysely';
import { endpoint } from '../../core/access/endpoint.ts';
import { int, object } from '../../platform/http/schema.ts';
import { readMany } from '../../planning/issuables/lists/run_long_read.ts';

const names = [
  'forks',
  'issues',
  'merge_requests',
  'notes',
  'snippets',
  'ssh_keys',
  'milestones',
  'users',
  'projects',
  'groups',
  'active_users',
] as const;

type Statistics = Record<(typeof names)[number], number>;

/** Issues and merge requests are summed from the totals of projects; the rest is counted. */
const counts = sql<Statistics>`select
  (select count(*) from projects where deleted_at is null and forked_from_project_id is not null) as forks,
  (select coalesce(sum(opened_issues + closed_issues), 0) from project_counters) as issues,
  (select count(*) from merge_requests where deleted_at is null) as merge_requests,
  (select count(*) from notes where system = 0) as notes,
  (select count(*) from snippets) as snippets,
  (select count(*) from keys where user_id is not null) as ssh_keys,
  (select count(*) from milestones) as milestones,
  (select count(*) from users where ghost = 0) as users,
  (select count(*) from projects where deleted_at is null) as projects,
  (select count(*) from namespaces where kind = 'group' and deleted_at is null) as groups,
  (select count(*) from users where ghost = 0 and state = 'active') as active_users`;

const statistics = endpoint({
  method: 'GET',
  path: '/application/statistics',
  summary: 'Get record counts of the instance (administrators)',
  area: 'instance',
  audience: 'admin',
  params: object({}),
  reply: object(Object.fromEntries(names.map((name) => [name, int]))),
  handle: async (call) => {
    const [row] = await readMany(call, { query: counts, maxRecords: null });
    return Object.fromEntries(names.map((name) => [name, row?.[name] ?? 0]));
  },
});

export const statisticsRoutes = [statistics];
