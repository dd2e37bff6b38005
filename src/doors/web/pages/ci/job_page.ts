/** The page of a job: status, log, artifacts. */
import { may } from '../../../../core/access/may.ts';
import { getTraceSize } from '../../../../ci/artifacts/traces/serve_trace.ts';
import { readTracePart } from '../../../../ci/artifacts/traces/read_trace_part.ts';
import { Failure } from '../../../../platform/errors.ts';
import { id, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { type LoadedJob, findJob, findJobToChange } from '../../../../ci/jobs/find.ts';
import { jobJson } from '../../../../ci/jobs/json.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { type View, type Visit, page } from '../../page.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { isActive } from '../../../../core/job_statuses.ts';
import { formatDuration } from '../../parts/times/format_duration.ts';
import { artifactsPart } from './job_artifacts.ts';
import { actionsOf, isPlayable } from './job_buttons.ts';
import { type LogPosition, logParams, logPart, withLogChoices } from './job_log.ts';
import { playForm } from './play_job_form.ts';
import { foundPart, searchForm } from './search_job_log.ts';
import { failureText } from './failure_text.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import type { Row } from './variable_rows.ts';

const mayChange = async ({ call }: Visit, { code: { project }, job }: LoadedJob): Promise<boolean> => {
  if (!may(call.viewer, 'update_job', project)) return false;
  try {
    await findJobToChange(call, project.id, job.id);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden') return false;
    throw error;
  }
};

type Json = Awaited<ReturnType<typeof jobJson>>;

const failure = ({ status, failure_reason, exit_code }: JobRow): Html | null =>
  status !== 'failed' || failure_reason === null
    ? null
    : html`<p class="flash alert" role="alert">The job failed: ${failureText({ failure_reason, exit_code })}.</p>`;

const facts = (json: Json, { code: { project }, job }: LoadedJob): Html => html`<dl class="figures">
<div><dt>Status</dt><dd>${statusBadge(job.status, json.allow_failure)}</dd></div>
<div><dt>Pipeline</dt><dd><a href="${projectPagePath(project, `pipelines/${job.pipeline_id}`)}">#${job.pipeline_id}</a>, ${json.stage}</dd></div>
<div><dt>Branch or tag</dt><dd>${json.ref}${json.commit !== null && html` <code>${json.commit.short_id}</code>`}</dd></div>
<div><dt>Created</dt><dd>${moment(job.created_at)}</dd></div>
${json.queued_duration !== null && html`<div><dt>Waited</dt><dd>${formatDuration(json.queued_duration)}</dd></div>`}
${json.duration !== null && html`<div><dt>${json.finished_at === null ? 'Runs for' : 'Duration'}</dt><dd>${formatDuration(json.duration)}</dd></div>`}
${json.runner !== null && html`<div><dt>Runner</dt><dd>#${json.runner.id} ${json.runner.description}</dd></div>`}
${json.coverage !== null && html`<div><dt>Coverage</dt><dd>${json.coverage} %</dd></div>`}
${json.tag_list.length > 0 && html`<div><dt>Tags</dt><dd>${json.tag_list.join(', ')}</dd></div>`}
</dl>`;

type PageQuery = LogPosition & {
  /** Searched text, and the byte offset to search from. */
  search?: string | undefined;
  from?: number | undefined;
};

/** A refused start: the input and its problems. */
type Tried = { rows: readonly Row[]; problems: FormProblems };

export const jobView = async (
  visit: Visit,
  found: LoadedJob,
  { part, line, search = '', from = 0 }: PageQuery,
  tried: Tried = { rows: [], problems: noProblems },
): Promise<View> => {
  const { call } = visit;
  const { code, job } = found;
  const path = projectPagePath(code.project, `jobs/${job.id}`);
  const position = part === undefined ? (line === undefined ? null : { line }) : { part: part - 1 };
  const isSearch = search.trim() !== '';
  const [json, trace, isMine] = await Promise.all([
    jobJson(call, code, job),
    isSearch ? null : readTracePart(call, job, position),
    mayChange(visit, found),
  ]);
  const isOpen = isActive(job.status);
  const live = isOpen && position === null && !isSearch;
  const hasLog = trace !== null || (await getTraceSize(call, job)) !== null;
  const hasLeft = json.artifacts.length > 0 || hasLog;
  const left = { expires: json.artifacts_file !== null && job.artifacts_expire_at !== null, hasLeft };
  const actions = isMine ? actionsOf(visit, { path, job, ...left }) : [];
  const stream = `/-/jobs/${job.id}/trace/stream?offset=${trace?.size ?? 0}`;
  const content = html`<div id="job" data-part${live && html` data-live="${stream}"`}>
${failure(job)}${facts(json, found)}
<div class="buttons">${actions.map(({ markup }) => markup)}</div>
${isMine && isPlayable(job) && playForm(visit, path, tried)}
${artifactsPart(path, code.project.id, json)}</div>
<h2>Log</h2>
${live && html`<p class="field check" hidden><input type="checkbox" id="follow"><label for="follow">Stay at the end of the log</label></p>`}
${hasLog && searchForm(path, search)}
${isSearch ? await foundPart(visit, found, { path, search, from }) : logPart(visit, found, { part: trace, position: { part, line }, isOpen })}
<div id="end"></div>`;
  const given = {
    project: code.project,
    title: `Job #${job.id}: ${job.name}`,
    noun: 'jobs',
    live,
  } as const;
  const view = projectView(visit, given, content);
  return withFormStatus(view, tried.problems);
};

const one = { ...projectPath, id: id() };
const fromOne = { minimum: 1, maximum: 1_000_000_000 };

export const jobPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/jobs/:id`,
    audience: 'user',
    params: object({
      ...one,
      part: optional(integer(fromOne)),
      line: optional(integer(fromOne)),
      search: optional(text({ maxLength: 200 })),
      from: optional(integer({ ...fromOne, minimum: 0 })),
      ...logParams,
    }),
    handle: async (visit, { project, id: jobId, ...query }) =>
      await jobView(withLogChoices(visit, query), await findJob(visit.call, project, jobId), query),
  }),
];
