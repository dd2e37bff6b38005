/** Fields of an issue that depend on the viewer. */
import type { Call } from '../../core/access/call.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { allOf, canSeeMergeRequests, readableCode, visibleFeature } from '../../core/access/visible.ts';
import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Version } from '../issuables/lists/json_cache.ts';
import type { Project } from '../../projects/projects/find.ts';
import { closersCount } from './rows.ts';

type Counted = { merge_requests_count: number };

/** Returns the issue as the viewer sees it: hidden merge requests do not count. */
export const limitToViewer = <I extends Counted>(viewer: Viewer, project: Project, issue: I): I =>
  canSeeMergeRequests(viewer, project) ? issue : { ...issue, merge_requests_count: 0 };

/** SQL of `merge_requests_count` over `issues`, joined with `projects` if `project` is null. */
export const seenCount = (
  viewer: Viewer,
  project: Project | null,
  dialect: SqlDialect,
): RawBuilder<number> => {
  if (project !== null) return canSeeMergeRequests(viewer, project) ? closersCount : sql<number>`0`;
  const visible = allOf([
    readableCode(viewer, dialect),
    visibleFeature(viewer, 'merge_requests_access_level', dialect),
  ]);
  return sql<number>`case when ${visible} then ${closersCount} else 0 end`;
};

/** Reads the current revisions of issues, the keys of their cached texts; in no order. */
export const issueVersions = async (
  { db, viewer, platform }: Call,
  ids: readonly number[],
): Promise<Version[]> =>
  await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.revision'])
    .select(seenCount(viewer, null, platform.store.dialect).as('merge_requests_count'))
    .where('issues.id', 'in', ids)
    .execute();
