/** The page of a job: status, log, artifacts. */
import { may } from '../../../../core/access/may.ts';
import { getTraceSize } from '../../../../ci/artifacts/traces/serve_trace.ts';
import { readTracePart } from '../../../../ci/artifacts/traces/read_trace_part.ts';
import { Failure } from '../../../../platform/errors.ts';
import { id, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { type LoadedJob, findJob, findJobToChange } from '../../../../ci/jobs/find.ts';
import { jobJson } from '../../../../ci/jobs/json.ts';
import { loadStageJobs } from '../../../../ci/jobs/stage_jobs.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page } from '../../page.ts';
import { isActive } from '../../../../core/job_statuses.ts';
import { artifactsPart } from './job_artifacts.ts';
import { actionsOf, isPlayable } from './job_buttons.ts';
import { jobFacts } from './job_facts.ts';
import { otherJobsPart } from './stage_jobs.ts';
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

const failure = ({ status, failure_reason, exit_code }: JobRow): Html | null =>
  status !== 'failed' || failure_reason === null
    ? null
    : html`<p class="flash alert" role="alert">The job failed: ${failureText({ failure_reason, exit_code })}.</p>`;

type PageQuery = LogPosition & {
  /** Searched text, and the byte offset to search from. */
  search?: string | undefined;
  from?: number | undefined;
};

/** A refused start: the input and its problems. */
type Tried = { rows: readonly Row[]; problems: FormProblems };

export const jobView = async (
  visit: Visit,
  loaded: LoadedJob,
  { part, line, search = '', from = 0 }: PageQuery,
  tried: Tried = { rows: [], problems: noProblems },
): Promise<View> => {
  const { call } = visit;
  const { code, job } = loaded;
  const path = projectPagePath(code.project, `jobs/${job.id}`);
  const position = part === undefined ? (line === undefined ? null : { line }) : { part: part - 1 };
  const isSearch = search.trim() !== '';
  const [json, trace, isMine, stage] = await Promise.all([
    jobJson(call, code, job),
    isSearch ? null : readTracePart(call, job, position),
    mayChange(visit, loaded),
    loadStageJobs(call.db, job),
  ]);
  const isOpen = isActive(job.status);
  const live = isOpen && position === null && !isSearch;
  const hasLog = trace !== null || (await getTraceSize(call, job)) !== null;
  const hasLeft = json.artifacts.length > 0 || hasLog;
  const left = { expires: json.artifacts_file !== null && job.artifacts_expire_at !== null, hasLeft };
  const actions = isMine ? actionsOf(visit, { path, job, ...left }) : [];
  const title = `Job #${job.id}: ${job.name}`;
  const stream = `/-/jobs/${job.id}/trace/stream?offset=${trace?.size ?? 0}`;
  const content = html`<div id="job" class="stack" data-part${live && html` data-live="${stream}"`}>
<div class="stack tight"><div class="row between top"><h1>${title}</h1>${actions.length > 0 && html`<div class="buttons">${actions.map(({ markup }) => markup)}</div>`}</div>
${await jobFacts(visit, loaded, { json, stage })}</div>
${failure(job)}
${isMine && isPlayable(job) && playForm(visit, path, tried)}
${artifactsPart(path, code.project.id, json)}${otherJobsPart(loaded, stage)}</div>
<div class="row between"><h2>Log</h2>${hasLog && searchForm(path, search)}</div>
${live && html`<p class="field check" hidden><input type="checkbox" id="follow"><label for="follow">Stay at the end of the log</label></p>`}
${isSearch ? await foundPart(visit, loaded, { path, search, from }) : logPart(visit, loaded, { part: trace, isOpen })}
<div id="end"></div>`;
  const frame = {
    project: code.project,
    title,
    noun: 'jobs',
    live,
    hasHeading: true,
  } as const;
  const view = projectView(visit, frame, content);
  return withFormStatus(view, tried.problems);
};

const jobParams = { ...projectPath, id: id() };
const fromOne = { minimum: 1, maximum: 1_000_000_000 };

export const jobPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/jobs/:id`,
    audience: 'user',
    params: object({
      ...jobParams,
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
