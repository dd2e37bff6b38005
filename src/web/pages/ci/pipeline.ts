/** One pipeline: its stages, and in each its jobs. */
import { may } from '../../../access/may.ts';
import { exposedOf } from '../../../artifacts/exposed.ts';
import type { JobStatus } from '../../../db/schema_ci.ts';
import { Failure } from '../../../errors.ts';
import { id, object } from '../../../http/schema.ts';
import { bridgesJson } from '../../../jobs/bridges.ts';
import { shownJobs } from '../../../jobs/of_pipeline.ts';
import type { JobRow } from '../../../jobs/rows.ts';
import { cancel, retry } from '../../../pipelines/act.ts';
import { shownStatuses } from '../../../pipelines/external_statuses.ts';
import { type FoundPipeline, findPipeline } from '../../../pipelines/find.ts';
import { findPipelineToChange } from '../../../pipelines/find_to_change.ts';
import { singlePipelineJson } from '../../../repository/pipeline_single.ts';
import { repositoryOf } from '../../../repository/open.ts';
import { type Html, html } from '../../html.ts';
import { moment } from '../../moment.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { isMoving, spell, statusBadge } from '../../status_badge.ts';
import { exposedPart } from './exposed.ts';
import { externalPart } from './external.ts';
import { actionsOf } from './job_actions.ts';
import { button, pathOf, projectPath, projectView, served } from './project_view.ts';

/** Whether the caller may do to it what those who may run its jobs do. */
const mayChange = async ({ call }: Visit, { project, pipeline }: FoundPipeline): Promise<boolean> => {
  if (!may(call.viewer, 'update_job', project)) return false;
  try {
    await findPipelineToChange(call, project.id, pipeline.id);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden') return false;
    throw error;
  }
};

/** How long a job runs by now, or has run; null: it has not begun. */
export const secondsOf = ({ started_at, finished_at }: JobRow, now: number): number | null =>
  started_at === null ? null : Math.max(0, (finished_at ?? now) - started_at) / 1000;

type Bridge = Awaited<ReturnType<typeof bridgesJson>>[number];

type Place = {
  visit: Visit;
  found: FoundPipeline;
  isMine: boolean;
  /** Jobs that start other pipelines, by their ids. */
  bridges: ReadonlyMap<number, Bridge>;
};

const bridgesAmong = async ({ call }: Visit, { project }: FoundPipeline, jobs: readonly JobRow[]) => {
  const bridges = jobs.filter(({ bridge }) => bridge === 1);
  if (bridges.length === 0) return new Map<number, Bridge>();
  const code = { project, repository: repositoryOf(call.platform, project) };
  const shown = await bridgesJson(call, code, bridges);
  return new Map(shown.map((json) => [json.id, json]));
};

/** Why it could not, or did not: there is no page of its own to say so. */
const failureOf = ({ status, failure_reason, downstream_errors }: Bridge): Html | null => {
  if (status !== 'failed' || failure_reason === null) return null;
  const text = [failure_reason.replaceAll('_', ' '), ...downstream_errors].join('\n');
  return html`<p class="quiet lines">${text}</p>`;
};

/** One that starts another pipeline printed nothing: that one is to be seen. */
const nameOf = (path: string, job: JobRow, bridges: Place['bridges']): Html => {
  if (job.bridge === 0) return html`<a href="${path}">${job.name}</a>`;
  const bridge = bridges.get(job.id);
  const other = bridge?.downstream_pipeline ?? null;
  return html`${job.name}${other !== null && html` <a href="${other.web_url}">Pipeline #${other.id}</a>`}
${bridge !== undefined && failureOf(bridge)}`;
};

const jobLine = ({ visit, found, isMine, bridges }: Place, job: JobRow): Html => {
  const path = pathOf(found.project, `jobs/${job.id}`);
  const took = secondsOf(job, visit.call.now);
  const actions = isMine ? actionsOf(visit, { path, job }).filter(({ inLists }) => inLists) : [];
  return html`<tr>
<th scope="row">${nameOf(path, job, bridges)}</th>
<td>${statusBadge(job.status, job.allow_failure === 1)}</td>
<td>${took !== null && spell(took)}</td>
<td>${actions.map(({ markup }) => markup)}</td>
</tr>
`;
};

const stagePart = (place: Place, stage: string, jobs: readonly JobRow[]): Html => html`<h2>${stage}</h2>
<div class="wide" tabindex="0" role="region" aria-label="Jobs of ${stage}"><table>
<thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col">Took</th><th scope="col">Actions</th></tr></thead>
<tbody>${jobs.map((job) => jobLine(place, job))}</tbody>
</table></div>
`;

const actionsPart = (
  { visit, found: { project, pipeline } }: Place,
  jobs: readonly JobRow[],
  others: readonly { status: JobStatus }[],
): Html => {
  const path = pathOf(project, `pipelines/${pipeline.id}`);
  const isOpen = [...jobs, ...others].some(({ status }) => isMoving(status) && status !== 'canceling');
  const isAgain = jobs.some(({ status }) => status === 'failed' || status === 'canceled');
  return html`<div class="buttons">${isOpen && button(visit, `${path}/cancel`, { label: 'Cancel the pipeline', danger: true })}
${isAgain && button(visit, `${path}/retry`, { label: 'Retry what failed' })}</div>`;
};

type Json = Awaited<ReturnType<typeof singlePipelineJson>>;

const facts = (json: Json, { pipeline }: FoundPipeline): Html => html`<dl class="figures">
<div><dt>Status</dt><dd>${statusBadge(pipeline.status)}</dd></div>
<div><dt>Branch or tag</dt><dd>${json.ref} <code>${json.sha.slice(0, 8)}</code></dd></div>
<div><dt>Made by</dt><dd>${json.source.replaceAll('_', ' ')}${json.user !== null && html`, ${json.user.name}`}</dd></div>
<div><dt>Made</dt><dd>${moment(pipeline.created_at)}</dd></div>
${json.queued_duration !== null && html`<div><dt>Waited</dt><dd>${spell(json.queued_duration)}</dd></div>`}
${json.duration !== null && html`<div><dt>Took</dt><dd>${spell(json.duration)}</dd></div>`}
${json.coverage !== null && html`<div><dt>Coverage</dt><dd>${json.coverage} %</dd></div>`}
</dl>
${json.yaml_errors !== null && html`<p class="flash alert lines" role="alert">${json.yaml_errors}</p>`}`;

const show = async (visit: Visit, found: FoundPipeline): Promise<View> => {
  const { call } = visit;
  const { project, pipeline } = found;
  const { jobs, total } = await shownJobs(call.db, pipeline.id);
  const [others, isMine, bridges, exposed] = await Promise.all([
    shownStatuses(call.db, pipeline.id),
    mayChange(visit, found),
    bridgesAmong(visit, found, jobs),
    exposedOf(call, project, pipeline.id),
  ]);
  const place = { visit, found, isMine, bridges };
  const stages = Map.groupBy(jobs, ({ stage_position }) => stage_position);
  const live = isMoving(pipeline.status);
  const content = html`<div id="pipeline" data-part${live && html` data-live=""`}>
${facts(await singlePipelineJson(call, pipeline, project), found)}
${place.isMine && actionsPart(place, jobs, others)}
${exposedPart(project, exposed)}${[...stages.values()].map((some) => stagePart(place, some[0]?.stage ?? '', some))}
${externalPart(others, call.now)}${total > jobs.length && html`<p>The first ${jobs.length} of ${total} jobs are shown.</p>`}</div>`;
  const title = `Pipeline #${pipeline.id}${pipeline.name === null ? '' : `: ${pipeline.name}`}`;
  return projectView(visit, { project, title, noun: 'pipelines', live }, content);
};

const one = object({ ...projectPath, id: id() });

const acting = (verb: 'cancel' | 'retry', act: typeof cancel, notice: string) =>
  page({
    method: 'POST',
    path: `${served}/pipelines/:id/${verb}`,
    audience: 'user',
    params: one,
    handle: async (visit, params) => {
      const found = await findPipelineToChange(visit.call, params.project, params.id);
      await act(visit.call, found);
      return redirect(pathOf(found.project, `pipelines/${found.pipeline.id}`), notice);
    },
  });

export const pipelinePages = [
  page({
    method: 'GET',
    path: `${served}/pipelines/:id`,
    audience: 'user',
    params: one,
    handle: async (visit, params) =>
      await show(visit, await findPipeline(visit.call, params.project, params.id)),
  }),
  acting('cancel', cancel, 'The jobs of the pipeline are cancelled.'),
  acting('retry', retry, 'What failed or was cancelled runs again.'),
];
