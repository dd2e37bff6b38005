/** Loads facts that list rows show in addition to the JSON of merge requests, with a few statements per page. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { visibleInternalNotes } from '../../../core/access/visible.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { type Project, projectsById } from '../../../projects/projects/find.ts';
import { headOrder } from '../merging/head_pipeline.ts';

export type RowFacts = {
  approvals: number;
  /** A reviewer waits for changes, which blocks the merge. */
  areChangesRequested: boolean;
  /** Number of discussions that are not resolved. */
  unresolved: number;
  /** The pipeline of the head, with its project; null: none, or the caller may not see it. */
  pipeline: { id: number; status: JobStatus; project: Project } | null;
  /** The target project; null if it was deleted meanwhile. */
  target: Project | null;
};

type Row = {
  id: number;
  project_id: number;
  source_project_id: number | null;
  approvals: number;
  changes_requested: number;
  unresolved: number;
  pipeline_id: number | null;
  status: JobStatus | null;
};

/** Loads the facts of merge requests that the caller sees, by id. */
export const loadRowFacts = async (call: Call, ids: readonly number[]): Promise<Map<number, RowFacts>> => {
  if (ids.length === 0) return new Map();
  const { oneOf } = call.platform.store.dialect;
  const { rows } = await sql<Row>`
    select merge_requests.id, merge_requests.project_id, source_project_id,
      (select count(*) from merge_request_approvals where merge_request_id = merge_requests.id) as approvals,
      case when exists (select 1 from reviewers where reviewers.target_type = 'MergeRequest'
        and reviewers.target_id = merge_requests.id and reviewers.state = 'requested_changes')
        then 1 else 0 end as changes_requested,
      (select count(distinct discussion_id) from notes where notes.target_type = 'MergeRequest'
        and notes.target_id = merge_requests.id and resolvable = 1 and resolved_at is null
        and ${visibleInternalNotes(call.viewer, call.platform.store.dialect)}) as unresolved,
      head.id as pipeline_id, head.status
    from merge_requests left join pipelines as head on head.id = (
      select pipelines.id from pipelines where sha = head_sha and pipelines.project_id = source_project_id
        and source <> 'parent_pipeline' and (ref = source_branch or merge_request_id = merge_requests.id)
        order by ${headOrder} limit 1)
    where ${oneOf('merge_requests.id', ids)}`.execute(call.db);
  const projectIds = rows.flatMap(({ project_id, source_project_id }) => [
    project_id,
    source_project_id ?? project_id,
  ]);
  const projects = await projectsById(call.db, [...new Set(projectIds)]);
  return new Map(
    rows.map(({ id, project_id, source_project_id, pipeline_id, status, ...counts }) => {
      const source = source_project_id === null ? undefined : projects.get(source_project_id);
      const isSeen = source !== undefined && may(call.viewer, 'read_pipeline', source);
      const pipeline =
        pipeline_id !== null && status !== null && isSeen
          ? { id: pipeline_id, status, project: source }
          : null;
      const facts = {
        approvals: counts.approvals,
        areChangesRequested: counts.changes_requested === 1,
        unresolved: counts.unresolved,
        pipeline,
        target: projects.get(project_id) ?? null,
      };
      return [id, facts];
    }),
  );
};
