import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import {
  allOf,
  anyOf,
  readableCode,
  visibleFeature,
  visibleIssues,
  visibleMergeRequests,
  visibleProjects,
} from '../../core/access/visible.ts';
import type { Words } from '../../platform/db/engine.ts';
import type { ActivitySubject } from '../../platform/db/schema/core.ts';

type Condition = RawBuilder<boolean>;

const about = (subject: ActivitySubject, ...conditions: Condition[]): Condition =>
  allOf([sql<boolean>`activities.subject_type = ${sql.lit(subject)}`, ...conditions]);

/** Milestones need one of these features. */
const isTracked = (viewer: Viewer, words: Words): Condition =>
  anyOf([
    visibleFeature(viewer, 'issues_access_level', words),
    visibleFeature(viewer, 'merge_requests_access_level', words),
  ]);

/** Over `activities` joined with `projects`: activity on what the viewer sees, by the rule of each kind of record. */
export const visibleActivities = (viewer: Viewer, words: Words): Condition => {
  const signedIn = viewer.user_id !== null;
  return allOf([
    visibleProjects(viewer, words),
    anyOf([
      about('Project'),
      about('Commit', readableCode(viewer, words)),
      ...(signedIn ? [about('Member'), about('Milestone', isTracked(viewer, words))] : []),
      about(
        'Issue',
        sql<boolean>`exists (select 1 from issues
          where issues.id = activities.subject_id and ${visibleIssues(viewer, words)})`,
      ),
      about(
        'MergeRequest',
        sql<boolean>`exists (select 1 from merge_requests
          where merge_requests.id = activities.subject_id and ${visibleMergeRequests(viewer, words)})`,
      ),
    ]),
  ]);
};
