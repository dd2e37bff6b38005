/** Decides which rows of the change log a viewer sees, by the current visibility of the changed record. */
import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import {
  allOf,
  anyOf,
  readableCode,
  readableEnvironments,
  readablePipelines,
  visibleFeature,
  visibleIssues,
  visibleMergeRequests,
  visibleProjects,
} from '../../core/access/visible.ts';
import { visibleNotes } from '../../planning/notes/visible.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import { visibleSnippetOf } from '../../projects/snippets/visible.ts';
import { tracksMilestones } from '../../projects/milestones/visible.ts';

type Condition = RawBuilder<boolean>;
type Table = 'issues' | 'merge_requests' | 'pipelines' | 'jobs' | 'deployments';

/** Over `events`: changes of this noun. `/` follows `.` in ASCII. */
const isAbout = (noun: string): Condition =>
  sql<boolean>`(events.kind >= ${sql.lit(`${noun}.`)} and events.kind < ${sql.lit(`${noun}/`)})`;

const about = (noun: string, ...conditions: Condition[]): Condition => allOf([isAbout(noun), ...conditions]);

/** Over `events`: changes of a record, and of emoji on it. */
const aboutRecord = (noun: string, type: NoteableType | 'Note', visible: Condition): Condition =>
  allOf([
    anyOf([
      isAbout(noun),
      allOf([isAbout('award_emoji'), sql<boolean>`events.target_type = ${sql.lit(type)}`]),
    ]),
    visible,
  ]);

const exists = (table: Table, id: RawBuilder<unknown>, visible: Condition): Condition =>
  sql<boolean>`exists (select 1 from ${sql.table(table)}
    where ${sql.ref(`${table}.id`)} = ${id} and ${sql.ref(`${table}.project_id`)} = projects.id and ${visible})`;

/** Over `events` joined with `projects`. Other kinds of changes, such as of tokens, variables and hooks, are not shown. */
export const visibleChanges = (db: Reader, viewer: Viewer, dialect: SqlDialect): Condition => {
  const target = sql.ref('events.target_id');
  const [issues, requests] = [visibleIssues(viewer, dialect), visibleMergeRequests(viewer, dialect)];
  const pipelines = readablePipelines(viewer, dialect);
  const noteOn = (type: 'Issue' | 'MergeRequest'): Condition =>
    allOf([
      sql<boolean>`notes.target_type = ${sql.lit(type)}`,
      type === 'Issue'
        ? exists('issues', sql.ref('notes.target_id'), issues)
        : exists('merge_requests', sql.ref('notes.target_id'), requests),
    ]);
  const noteOnSnippet = allOf([
    sql<boolean>`notes.target_type = 'Snippet'`,
    visibleSnippetOf(sql.ref('notes.target_id'), viewer, dialect),
  ]);
  const note = allOf([
    anyOf([noteOn('Issue'), noteOn('MergeRequest'), noteOnSnippet]),
    visibleNotes(db, viewer),
  ]);
  const tracked = tracksMilestones(viewer, dialect);
  return allOf([
    visibleProjects(viewer, dialect),
    anyOf([
      about('project'),
      about('member'),
      about('label', tracked),
      about('milestone', tracked),
      about('ref', readableCode(viewer, dialect)),
      about('commit_comment', readableCode(viewer, dialect)),
      about(
        'release',
        readableCode(viewer, dialect),
        visibleFeature(viewer, 'releases_access_level', dialect),
      ),
      about('pipeline', exists('pipelines', target, pipelines)),
      about('job', exists('jobs', target, pipelines)),
      about('deployment', exists('deployments', target, readableEnvironments(viewer, dialect))),
      aboutRecord('issue', 'Issue', exists('issues', target, issues)),
      aboutRecord('merge_request', 'MergeRequest', exists('merge_requests', target, requests)),
      aboutRecord('snippet', 'Snippet', visibleSnippetOf(target, viewer, dialect)),
      aboutRecord(
        'note',
        'Note',
        sql<boolean>`exists (select 1 from notes where notes.id = ${target} and ${note})`,
      ),
    ]),
  ]);
};
