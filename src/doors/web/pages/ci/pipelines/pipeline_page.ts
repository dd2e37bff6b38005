/** The page of a pipeline: stages and their jobs. */
import { may } from '../../../../../core/access/may.ts';
import { hasReports } from '../../../../../ci/artifacts/reports/test_report.ts';
import { listExposed } from '../../../../../ci/artifacts/archives/exposed_artifacts.ts';
import type { JobStatus } from '../../../../../platform/db/schema/ci.ts';
import { Failure } from '../../../../../platform/errors.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { triggerJobsJson } from '../../../../../ci/jobs/trigger_job_json.ts';
import { loadNeeds } from '../../../../../ci/jobs/load_needs.ts';
import { loadPipelineJobs } from '../../../../../ci/jobs/pipeline_jobs.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import { cancel, retry } from '../../../../../ci/pipelines/user_actions.ts';
import { listExternalStatuses } from '../../../../../ci/pipelines/statuses/external_stage.ts';
import { type LoadedPipeline, findPipeline } from '../../../../../ci/pipelines/find.ts';
import { findPipelineToChange } from '../../../../../ci/pipelines/find_to_change.ts';
import { getRepository } from '../../../../../code/repository/get_repository.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { stageId } from '../../../parts/pipelines/stage_dots.ts';
import { statusBadge } from '../../../parts/status_badge.ts';
import { isActive } from '../../../../../core/job_statuses.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import { exposedArtifactsPart } from '../exposed_artifacts.ts';
import { externalPart } from '../external_statuses.ts';
import { deletePart } from './delete_pipeline.ts';
import { pipelineFacts } from './pipeline_facts.ts';
import { startStageForm } from './start_stage.ts';
import { failedJobsPart, loadFailedJobs } from './failed_jobs.ts';
import { stageGraph } from './stage_graph.ts';
import { titleOf, viewTabs } from './pipeline_tabs.ts';
import { actionsOf, startsAt } from '../job_buttons.ts';
import { secondsOf } from '../job_duration.ts';
import { button, projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';

/** Returns whether the caller may cancel and retry the pipeline, which requires the right to run its jobs. */
const mayChange = async ({ call }: Visit, { project, pipeline }: LoadedPipeline): Promise<boolean> => {
  if (!may(call.viewer, 'update_job', project)) return false;
  try {
    await findPipelineToChange(call, project.id, pipeline.id);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden') return false;
    throw error;
  }
};

type Bridge = Awaited<ReturnType<typeof triggerJobsJson>>[number];

type PipelineContext = {
  visit: Visit;
  loaded: LoadedPipeline;
  isMine: boolean;
  /** Trigger jobs by id. */
  bridges: ReadonlyMap<number, Bridge>;
  /** Names of the jobs for which a job waits instead of its stage, by its id. */
  needs: ReadonlyMap<number, readonly string[]>;
};

const bridgesAmong = async ({ call }: Visit, { project }: LoadedPipeline, jobs: readonly JobRow[]) => {
  const bridges = jobs.filter(({ bridge }) => bridge === 1);
  if (bridges.length === 0) return new Map<number, Bridge>();
  const code = { project, repository: getRepository(call.platform, project) };
  const shown = await triggerJobsJson(call, code, bridges);
  return new Map(shown.map((json) => [json.id, json]));
};

/** Failure reason of a trigger job, shown here because it has no separate page. */
const failureOf = ({ status, failure_reason, downstream_errors }: Bridge): Html | null => {
  if (status !== 'failed' || failure_reason === null) return null;
  const text = [failure_reason.replaceAll('_', ' '), ...downstream_errors].join('\n');
  return html`<p class="quiet lines">${text}</p>`;
};

/** Renders a job's name with a link; a trigger job links to its downstream pipeline. */
const nameOf = (path: string, job: JobRow, bridges: PipelineContext['bridges']): Html => {
  if (job.bridge === 0) return html`<a href="${path}">${job.name}</a>`;
  const bridge = bridges.get(job.id);
  const downstream = bridge?.downstream_pipeline ?? null;
  return html`${job.name}${downstream !== null && html` <a href="${downstream.web_url}">Pipeline #${downstream.id}</a>`}
${bridge !== undefined && failureOf(bridge)}`;
};

const needsOf = (names: readonly string[] | undefined): Html | null => {
  if (names === undefined) return null;
  return names.length === 0
    ? html`<br><span class="quiet">Needs no other job</span>`
    : html`<br><span class="quiet">Needs ${names.join(', ')}</span>`;
};

const jobLine = ({ visit, loaded, isMine, bridges, needs }: PipelineContext, job: JobRow): Html => {
  const path = projectPagePath(loaded.project, `jobs/${job.id}`);
  const took = secondsOf(job, visit.call.now);
  const actions = isMine ? actionsOf(visit, { path, job }).filter(({ inLists }) => inLists) : [];
  return html`<tr>
<th scope="row">${nameOf(path, job, bridges)}${needsOf(needs.get(job.id))}</th>
<td>${statusBadge(job.status, job.allow_failure === 1)}${startsAt(job)}</td>
<td>${took !== null && formatDuration(took)}</td>
<td>${actions.map(({ markup }) => markup)}</td>
</tr>
`;
};

const stagePart = (
  context: PipelineContext,
  stage: string,
  jobs: readonly JobRow[],
): Html => html`<section class="card" id="${stageId(jobs[0]?.stage_position ?? 0)}" aria-label="${stage}"><header><h2>${stage}</h2>${context.isMine && startStageForm(context, jobs)}</header>
<div class="wide" tabindex="0" role="region" aria-label="Jobs of ${stage}"><table class="even">
<thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col">Duration</th><th scope="col">Actions</th></tr></thead>
<tbody>${jobs.map((job) => jobLine(context, job))}</tbody>
</table></div></section>
`;

const actionsPart = (
  { visit, loaded, isMine }: PipelineContext,
  jobs: readonly JobRow[],
  others: readonly { status: JobStatus }[],
): Html => {
  const { project, pipeline } = loaded;
  const path = projectPagePath(project, `pipelines/${pipeline.id}`);
  const isOpen = [...jobs, ...others].some(({ status }) => isActive(status) && status !== 'canceling');
  const isAgain = jobs.some(({ status }) => status === 'failed' || status === 'canceled');
  return html`<div class="buttons">${isMine && isOpen && button(visit, `${path}/cancel`, { label: 'Cancel the pipeline', danger: true })}
${isMine && isAgain && button(visit, `${path}/retry`, { label: 'Retry failed jobs' })}${deletePart(visit, loaded)}</div>`;
};

const show = async (visit: Visit, loaded: LoadedPipeline): Promise<View> => {
  const { call } = visit;
  const { project, pipeline } = loaded;
  const { jobs, total } = await loadPipelineJobs(call.db, pipeline.id);
  const seesJobs = may(call.viewer, 'read_job', project);
  const [others, isMine, bridges, exposed, needs, failed, isTested, facts] = await Promise.all([
    listExternalStatuses(call.db, pipeline.id),
    mayChange(visit, loaded),
    bridgesAmong(visit, loaded, jobs),
    listExposed(call, project, pipeline.id),
    loadNeeds(call.db, pipeline.id),
    seesJobs ? loadFailedJobs(visit, jobs) : [],
    seesJobs && hasReports(call, pipeline.id),
    pipelineFacts(visit, loaded, total > jobs.length ? [] : jobs),
  ]);
  const context = { visit, loaded, isMine, bridges, needs };
  const stages = Map.groupBy(jobs, ({ stage_position }) => stage_position);
  const live = isActive(pipeline.status);
  const target = call.signedIn && html` data-target="Pipeline ${project.id} ${pipeline.id}"`;
  const content = html`<div id="pipeline" class="stack" data-part${live && html` data-live=""${target}`}>
<div class="stack tight"><div class="row between top"><h1>${titleOf(loaded)}${facts.commitTitle !== null && html` <span class="muted subject">${facts.commitTitle}</span>`}</h1>${actionsPart(context, jobs, others)}</div>
${facts.markup}</div>
${facts.problems}
${isTested && viewTabs(loaded, 'jobs')}${stageGraph({ visit, project, isMine, needs }, [...stages.values()])}${failedJobsPart({ visit, project, isMine }, failed)}${exposedArtifactsPart(project, exposed)}${[...stages.values()].map((some) => stagePart(context, some[0]?.stage ?? '', some))}
${externalPart(others, call.now)}${total > jobs.length && html`<p>The first ${jobs.length} of ${total} jobs are shown.</p>`}</div>`;
  const frame = { project, title: titleOf(loaded), noun: 'pipelines', live, hasHeading: true } as const;
  return projectView(visit, frame, content);
};

const pipelineParams = object({ ...projectPath, id: id() });

const acting = (verb: 'cancel' | 'retry', act: typeof cancel, notice: string) =>
  page({
    method: 'POST',
    path: `${projectRoot}/pipelines/:id/${verb}`,
    audience: 'user',
    params: pipelineParams,
    handle: async (visit, params) => {
      const loaded = await findPipelineToChange(visit.call, params.project, params.id);
      await act(visit.call, loaded);
      return redirect(projectPagePath(loaded.project, `pipelines/${loaded.pipeline.id}`), notice);
    },
  });

export const pipelinePages = [
  page({
    method: 'GET',
    path: `${projectRoot}/pipelines/:id`,
    audience: 'user',
    params: pipelineParams,
    handle: async (visit, params) =>
      await show(visit, await findPipeline(visit.call, params.project, params.id)),
  }),
  acting('cancel', cancel, 'The jobs of the pipeline were canceled.'),
  acting('retry', retry, 'Failed and canceled jobs run again.'),
];
