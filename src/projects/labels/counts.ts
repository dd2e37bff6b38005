/** Counts the issues and merge requests with a label that the caller sees. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import {
  allOf,
  ownIssue,
  projectsAtLeast,
  readableCode,
  visibleFeature,
  visibleProjects,
} from '../../core/access/visible.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';

export type Counts = { opened: number; closed: number; open_merge_requests: number };

type CountRequester = Pick<Call, 'db' | 'viewer' | 'platform'>;

type Sums = Counts & { label_id: number; hidden: number };

const conditions = (viewer: Viewer, dialect: SqlDialect) => ({
  issues: allOf([visibleProjects(viewer, dialect), visibleFeature(viewer, 'issues_access_level', dialect)]),
  trusted: projectsAtLeast(viewer, levels.reporter, dialect),
  requests: allOf([
    readableCode(viewer, dialect),
    visibleFeature(viewer, 'merge_requests_access_level', dialect),
  ]),
});

/** Selects the counters of triggers, one row per project with the label. `hidden`: without confidential issues. */
const sumCounts = async ({ db, viewer, platform }: CountRequester, ids: number[]): Promise<Sums[]> => {
  const { dialect } = platform.store;
  const { issues, trusted, requests } = conditions(viewer, dialect);
  const { rows } = await sql<Sums>`
    select label_id,
      sum(issues * (opened_issues - hides * opened_confidential_issues)) as opened,
      sum(issues * (closed_issues - hides * closed_confidential_issues)) as closed,
      sum(requests * opened_merge_requests) as open_merge_requests,
      sum(issues * hides * (opened_confidential_issues + closed_confidential_issues)) as hidden
    from (
      select label_counts.*,
        case when ${issues} then 1 else 0 end as issues,
        case when ${trusted} then 0 else 1 end as hides,
        case when ${requests} then 1 else 0 end as requests
      from label_counts cross join projects
      where ${dialect.oneOf('label_id', ids)} and projects.id = label_counts.project_id
    ) as counted group by label_id`.execute(db);
  return rows;
};

type OwnCount = { label_id: number; state: 'opened' | 'closed'; count: number };

/**
 * Selects the confidential issues that the caller wrote or is assigned to, in projects that hide other confidential
 * issues.
 */
const ownConfidential = async (
  { db, viewer, platform }: CountRequester,
  ids: number[],
): Promise<OwnCount[]> => {
  const { dialect } = platform.store;
  const { issues, trusted } = conditions(viewer, dialect);
  const carries = dialect.oneOf('label_id', ids);
  const { rows } = await sql<OwnCount>`
    select label_id, issues.state, count(*) as count
    from (
      select id from issues where confidential = 1 and author_id = ${viewer.user_id}
        and project_id in (select project_id from label_counts where ${carries})
      union select target_id from assignees where target_type = 'Issue' and user_id = ${viewer.user_id}
    ) as own cross join issues cross join projects cross join label_links
    where issues.id = own.id and issues.confidential = 1 and issues.deleted_at is null
      and projects.id = issues.project_id and ${issues} and not ${trusted} and ${ownIssue(viewer)}
      and label_links.target_type = 'Issue' and label_links.target_id = issues.id and ${carries}
    group by label_id, issues.state`.execute(db);
  return rows;
};

/** Counts exactly for the caller. Costs one row per project with the label, however many issues there are. */
export const countsById = async (call: CountRequester, ids: number[]): Promise<Map<number, Counts>> => {
  const counts = new Map<number, Counts>(
    ids.map((id) => [id, { opened: 0, closed: 0, open_merge_requests: 0 }]),
  );
  const sums = await sumCounts(call, ids);
  for (const { label_id, opened, closed, open_merge_requests } of sums) {
    counts.set(label_id, { opened, closed, open_merge_requests });
  }
  const hiding = sums.filter(({ hidden }) => hidden > 0).map(({ label_id }) => label_id);
  if (hiding.length === 0 || call.viewer.user_id === null) return counts;
  for (const { label_id, state, count } of await ownConfidential(call, hiding)) {
    const labelCounts = counts.get(label_id);
    if (labelCounts !== undefined) labelCounts[state] += count;
  }
  return counts;
};
