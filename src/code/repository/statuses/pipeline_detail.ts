/** Converts a pipeline to detailed JSON, for single pipelines and heads of merge requests. */
import type { Static } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import type { Site } from '../../../core/access/site.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { bool, int, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { capitalize } from '../../../platform/unicode.ts';
import type { Project } from '../../../projects/projects/find.ts';
import {
  type PipelineRow,
  briefPipelineJson,
  briefPipelineShape,
  pipelineUrl,
  shownStatus,
} from './pipeline_summary.ts';
import { formatTimeOrNull } from '../../../platform/time.ts';
import {
  type BasicUserRow,
  basicUser,
  basicUserShape,
  basicUsersById,
} from '../../../identity/users/json.ts';
import { countedRows } from './counted_statuses.ts';

export const singlePipelineShape = object({
  ...briefPipelineShape.properties,
  before_sha: string,
  tag: bool,
  yaml_errors: nullable(string),
  user: nullable(basicUserShape),
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  committed_at: nullable(timestamp),
  duration: nullable(int),
  queued_duration: nullable(int),
  coverage: nullable(string),
  failure_reason: nullable(string),
  detailed_status: object({
    icon: string,
    text: string,
    label: string,
    group: string,
    tooltip: string,
    has_details: bool,
    details_path: string,
    favicon: nullable(string),
  }),
});

/** Returns the seconds from the creation of a pipeline to the start of its first job; null: none has started. */
export const secondsQueued = ({ created_at, started_at }: PipelineRow): number | null =>
  started_at === null ? null : Math.max(0, Math.round((started_at - created_at) / 1000));

const texts: Record<string, string> = { success: 'Passed', manual: 'Blocked' };

/** The status of a pipeline that succeeded although allowed jobs failed. */
const warned = {
  icon: 'status_warning',
  text: 'Warning',
  label: 'passed with warnings',
  group: 'success-with-warnings',
};

const namedStatus = (row: PipelineRow, hasWarnings: boolean) => {
  const status = shownStatus(row.status);
  if (status === 'success' && hasWarnings) return warned;
  const text = texts[status] ?? capitalize(status);
  return { icon: `status_${status}`, text, label: text.toLowerCase(), group: status };
};

const detailedStatus = (row: PipelineRow, path: string, hasWarnings: boolean) => {
  const named = namedStatus(row, hasWarnings);
  return {
    ...named,
    tooltip: named.label,
    has_details: true,
    details_path: pipelineUrl('', path, row.id),
    favicon: null,
  };
};

/** Mean coverage of the jobs in percent, null if none reports it; and whether allowed jobs failed. */
type JobSummary = { coverage: string | null; hasWarnings: boolean };

const summarizeJobs = async (db: Reader, { id }: PipelineRow): Promise<JobSummary> => {
  const { mean, allowed } = await db
    .selectFrom(countedRows(db, id).as('counted'))
    .select(({ fn }) => [
      fn.avg<number | string | null>('coverage').as('mean'),
      fn
        .countAll<number>()
        .filterWhere('allow_failure', '=', 1)
        .filterWhere('status', 'in', ['failed', 'canceled'])
        .as('allowed'),
    ])
    .executeTakeFirstOrThrow();
  return { coverage: mean === null ? null : (Number(mean) / 100).toFixed(2), hasWarnings: allowed > 0 };
};

type Extra = JobSummary & { user: BasicUserRow | undefined };

const single = (row: PipelineRow, project: Project, site: Site, { user, ...jobs }: Extra) => ({
  ...briefPipelineJson(row, { baseUrl: site.baseUrl, full_path: project.full_path }),
  before_sha: row.before_sha,
  tag: row.tag === 1,
  yaml_errors: row.yaml_errors,
  user: user === undefined ? null : basicUser(user, site),
  started_at: formatTimeOrNull(row.started_at),
  finished_at: formatTimeOrNull(row.finished_at),
  committed_at: null,
  duration: row.duration,
  queued_duration: secondsQueued(row),
  coverage: jobs.coverage,
  failure_reason: row.failure_reason,
  detailed_status: detailedStatus(row, project.full_path, jobs.hasWarnings),
});

/** Converts one pipeline with user, coverage and detailed status. */
export const singlePipelineJson = async (
  call: Call,
  row: PipelineRow,
  project: Project,
): Promise<Static<typeof singlePipelineShape>> => {
  const users = await basicUsersById(call.db, row.user_id === null ? [] : [row.user_id]);
  const jobs = await summarizeJobs(call.db, row);
  return single(row, project, call, { ...jobs, user: users.get(row.user_id ?? 0) });
};
