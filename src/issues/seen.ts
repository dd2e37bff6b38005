/** What of an issue depends on who reads it. */
import type { Call } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import { allOf, canSeeMergeRequests, readableCode, visibleFeature } from '../access/visible.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Words } from '../db/engine.ts';
import type { Version } from '../issuables/texts.ts';
import type { Project } from '../projects/find.ts';
import { closersCount } from './rows.ts';

type Counted = { merge_requests_count: number };

/** The issue as the viewer sees it: merge requests that are hidden from them do not count. */
export const seenIssue = <I extends Counted>(viewer: Viewer, project: Project, issue: I): I =>
  canSeeMergeRequests(viewer, project) ? issue : { ...issue, merge_requests_count: 0 };

/** `merge_requests_count` over `issues`, and over `projects` where the list is of many. */
export const seenCount = (viewer: Viewer, project: Project | null, words: Words): RawBuilder<number> => {
  if (project !== null) return canSeeMergeRequests(viewer, project) ? closersCount : sql<number>`0`;
  const visible = allOf([
    readableCode(viewer, words),
    visibleFeature(viewer, 'merge_requests_access_level', words),
  ]);
  return sql<number>`case when ${visible} then ${closersCount} else 0 end`;
};

/** The issues of these ids as they are now, for their texts; in no order. */
export const issueVersions = async (
  { db, viewer, platform }: Call,
  ids: readonly number[],
): Promise<Version[]> =>
  await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.revision'])
    .select(seenCount(viewer, null, platform.store.words).as('merge_requests_count'))
    .where('issues.id', 'in', ids)
    .execute();
