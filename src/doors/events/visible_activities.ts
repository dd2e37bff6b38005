import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import {
  allOf,
  anyOf,
  readableCode,
  visibleInternalNotes,
  visibleIssues,
  visibleMergeRequests,
  visibleProjects,
} from '../../core/access/visible.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { ActivitySubject } from '../../platform/db/schema/core.ts';
import { visibleSnippetOf } from '../../projects/snippets/visible.ts';
import { tracksMilestones } from '../../projects/milestones/visible.ts';

type Condition = RawBuilder<boolean>;

const about = (subject: ActivitySubject, ...conditions: Condition[]): Condition =>
  allOf([sql<boolean>`activities.subject_type = ${sql.lit(subject)}`, ...conditions]);

/** Over `activities` joined with `projects`: activity on what the viewer sees, by the rule of each kind of record. */
export const visibleActivities = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const signedIn = viewer.user_id !== null;
  const comment = sql<boolean>`(activities.target_type is distinct from 'Note' or exists (select 1 from notes
    where notes.id = activities.target_id and ${visibleInternalNotes(viewer, dialect)}))`;
  return allOf([
    visibleProjects(viewer, dialect),
    anyOf([
      about('Project'),
      about('Commit', readableCode(viewer, dialect)),
      ...(signedIn ? [about('Member'), about('Milestone', tracksMilestones(viewer, dialect))] : []),
      about(
        'Issue',
        comment,
        sql<boolean>`exists (select 1 from issues
          where issues.id = activities.subject_id and ${visibleIssues(viewer, dialect)})`,
      ),
      about(
        'MergeRequest',
        comment,
        sql<boolean>`exists (select 1 from merge_requests
          where merge_requests.id = activities.subject_id and ${visibleMergeRequests(viewer, dialect)})`,
      ),
      about('Snippet', comment, visibleSnippetOf(sql.ref('activities.subject_id'), viewer, dialect)),
    ]),
  ]);
};
