import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { getMinRole } from '../../core/access/min_role.ts';
import { allOf, projectsAtLeast } from '../../core/access/visible.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { type LogEnd, readLogEnd } from './log_end.ts';
import { readPrunedUntil, requireKept } from './prune_changes.ts';
import { visibleChanges } from './visible_changes.ts';

export const changeShape = object({
  id: int,
  created_at: timestamp,
  kind: string,
  action: string,
  project_id: int,
  project_path: string,
  target_type: string,
  target_iid: nullable(int),
  target_id: nullable(int),
  pipeline_id: nullable(int),
  ref: nullable(string),
  sha: nullable(string),
});

type Row = {
  id: number;
  created_at: number;
  kind: string;
  project_id: number;
  full_path: string;
  target_type: string;
  note_type: string | null;
  target_iid: number | null;
  target_id: number;
  pipeline_id: number | null;
  data: string | null;
};

export type Change = {
  id: number;
  created_at: string;
  /** `issue`, `ref`... */
  kind: string;
  /** `created`, `updated`... */
  action: string;
  project_id: number;
  project_path: string;
  /** For a comment: its subject. */
  target_type: string;
  target_iid: number | null;
  /**
   * Id of a pipeline, a job, a deployment or a label; for a member, the id of the user; null for other kinds of target.
   */
  target_id: number | null;
  /** The pipeline: of the job, or of the job that deployed. */
  pipeline_id: number | null;
  /** Full name of the branch or tag; of a release, of its tag. */
  ref: string | null;
  /** For a comment on a commit: the commit. */
  sha: string | null;
};

export type ChangePage = {
  changes: Change[];
  /** Position at which the next read continues. */
  next_after: number;
  /** True if there is nothing more to read now. */
  isAtEnd: boolean;
  /** True if an open transaction holds back later changes. */
  isHeldBack: boolean;
};

/** Maximum log rows per read, so that a viewer who sees few of them does not read the whole log. */
const maxScanned = 2_000;
/** The same of some projects: most rows are passed over before their visibility is checked. */
const maxNarrowedScan = 10_000;

/** Narrows the changes to those of some projects. */
export type ChangeFilter = {
  project_id?: number | undefined;
  /** Projects of the group and of the groups below it. */
  group_id?: number | undefined;
  /** Only projects of which the caller is a member, themselves or through a group. */
  membership?: boolean | undefined;
};

/** SQL conditions over `projects`. */
const narrow = (
  { viewer, platform }: Call,
  { project_id, group_id, membership }: ChangeFilter,
): RawBuilder<boolean>[] => [
  ...(project_id === undefined ? [] : [sql<boolean>`projects.id = ${project_id}`]),
  ...(group_id === undefined ? [] : [sql<boolean>`projects.namespace_id in ${selectDescendants(group_id)}`]),
  ...(membership === true
    ? [projectsAtLeast({ ...viewer, admin: false }, getMinRole({ membership }), platform.store.dialect)]
    : []),
];

/** The iid of the target; null if it has none. */
const targetIid = sql`case
  when events.target_type = 'Issue' then (select iid from issues where issues.id = events.target_id)
  when events.target_type = 'MergeRequest'
    then (select iid from merge_requests where merge_requests.id = events.target_id)
  when events.target_type = 'Deployment'
    then (select iid from deployments where deployments.id = events.target_id)
  when events.target_type = 'Milestone' then (select iid from milestones where milestones.id = events.target_id)
  when events.target_type = 'Note' then coalesce(
    (select iid from issues join notes on notes.target_type = 'Issue' and notes.target_id = issues.id
      where notes.id = events.target_id),
    (select iid from merge_requests
      join notes on notes.target_type = 'MergeRequest' and notes.target_id = merge_requests.id
      where notes.id = events.target_id),
    (select target_id from notes where notes.target_type = 'Snippet' and notes.id = events.target_id))
  when events.target_type = 'Snippet' then events.target_id
  end`;

const pipelineId = sql`case
  when events.target_type = 'Pipeline' then events.target_id
  when events.target_type = 'Job' then (select pipeline_id from jobs where jobs.id = events.target_id)
  when events.target_type = 'Deployment' then (select jobs.pipeline_id from deployments
    join jobs on jobs.id = deployments.job_id where deployments.id = events.target_id) end`;

/** Kinds whose target is named by what the log recorded of them. */
const recordedNouns = ['ref', 'release', 'member', 'commit_comment'];

const recordedData = sql`case when ${sql.join(
  recordedNouns.map((noun) => sql`events.kind like ${sql.lit(`${noun}.%`)}`),
  sql` or `,
)} then events.data end`;

type Recorded = { ref?: string; tag?: string; user_id?: number; sha?: string };

/** Names the target of a change that has no iid. */
const nameTarget = ({ target_type, target_id, data }: Row) => {
  const { ref, tag, user_id, sha } = (data === null ? {} : JSON.parse(data)) as Recorded;
  return {
    target_id: ['Pipeline', 'Job', 'Deployment', 'Label'].includes(target_type)
      ? target_id
      : (user_id ?? null),
    ref: ref ?? (tag === undefined ? null : `refs/tags/${tag}`),
    sha: sha ?? null,
  };
};

const toChange = (row: Row): Change => {
  const { id, created_at, kind, full_path, note_type } = row;
  const [noun = '', action = ''] = kind.split('.');
  const { target_id, ref, sha } = nameTarget(row);
  return {
    id,
    created_at: formatTime(created_at),
    kind: noun,
    action,
    project_id: row.project_id,
    project_path: full_path,
    target_type: note_type ?? row.target_type,
    target_iid: row.target_iid,
    target_id,
    pipeline_id: row.pipeline_id,
    ref,
    sha,
  };
};

export type ChangeRequest = {
  /** null: after the latest change. */
  after: number | null;
  limit: number;
  filter: ChangeFilter;
};

/**
 * Lists the changes after one that the caller sees now, the oldest first.
 * @throws Failure 410 if the log no longer begins there
 */
export const listChanges = async (
  call: Call,
  { after, limit, filter }: ChangeRequest,
): Promise<ChangePage> => {
  const { store } = call.platform;
  const conditions = narrow(call, filter);
  const { settled, last }: LogEnd = await readLogEnd(store);
  const start = after === 0 ? Math.min(await readPrunedUntil(call.db), settled) : (after ?? settled);
  const end = Math.min(settled, start + (conditions.length === 0 ? maxScanned : maxNarrowedScan));
  const isHeldBack = settled < last;
  if (end <= start) return { changes: [], next_after: start, isAtEnd: true, isHeldBack };
  const { rows } = await sql<Row>`
    select events.id, events.created_at, events.kind, events.target_type, events.target_id,
      projects.id as project_id, projects.full_path, ${recordedData} as data, ${targetIid} as target_iid, ${pipelineId} as pipeline_id,
      case when events.target_type = 'Note'
        then (select notes.target_type from notes where notes.id = events.target_id) end as note_type
    from events join projects on projects.id = events.project_id
    where events.id > ${start} and events.id <= ${end}
      and ${allOf([...conditions, visibleChanges(call.db, call.viewer, store.dialect)])}
    order by events.id limit ${limit}`.execute(call.db);
  // Checked after the rows were read: none of them was deleted meanwhile.
  await requireKept(call.db, after);
  const next_after = rows.length < limit ? end : (rows.at(-1)?.id ?? end);
  return { changes: rows.map(toChange), next_after, isAtEnd: next_after >= settled, isHeldBack };
};
