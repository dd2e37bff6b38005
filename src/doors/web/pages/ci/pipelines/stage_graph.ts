/** The stages of a pipeline side by side, as an overview of the tables below it. */
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { statusIcon } from '../../../parts/status_badge.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import type { Visit } from '../../../page.ts';
import { isPlayable } from '../job_buttons.ts';
import { secondsOf } from '../job_duration.ts';
import { listEdges, maxEdges, needEdges } from './need_edges.ts';

type StageContext = {
  visit: Visit;
  project: Project;
  /** True if the viewer may start jobs. */
  isMine: boolean;
  /** Names of the jobs for which a job waits instead of its stage, by its id. */
  needs: ReadonlyMap<number, readonly string[]>;
};

/** Renders a button without text, next to the box of a job that waits for a start. */
const startButton = (visit: Visit, path: string, { name }: JobRow): Html =>
  html`<form method="post" action="${path}/play">${hidden('authenticity_token', visit.csrfToken())}<button class="small icon-button" title="Run ${name}">${icon('play', `Run ${name}`)}</button></form>`;

const jobBox = ({ visit, project, isMine, needs }: StageContext, job: JobRow): Html => {
  const took = secondsOf(job, visit.call.now);
  const waitsFor = needs.get(job.id) ?? [];
  const content = html`${statusIcon(job.status, job.allow_failure === 1)} <span class="name">${job.name}</span>${took !== null && html`<span class="took">${formatDuration(took)}</span>`}${waitsFor.length > 0 && html`<span class="needs visually-hidden">after ${waitsFor.join(', ')}</span>`}`;
  // A trigger job has no page.
  const path = projectPagePath(project, `jobs/${job.id}`);
  const start = isMine && isPlayable(job) && startButton(visit, path, job);
  return job.bridge === 1
    ? html`<li><div class="job">${content}</div>${start}</li>`
    : html`<li><a class="job" href="${path}">${content}</a>${start}</li>`;
};

/** Renders a column for each stage, and lines between jobs. @param stages the jobs of each stage, in order */
export const stageGraph = (context: StageContext, stages: readonly (readonly JobRow[])[]): Html | null => {
  if (stages.length === 0) return null;
  const edges = listEdges(stages, context.needs);
  const columns = stages.map(
    (jobs) =>
      html`<div><p class="stage">${jobs[0]?.stage}</p><ul>${jobs.map((job) => jobBox(context, job))}</ul></div>
`,
  );
  const rows = stages.map((jobs) => jobs.length);
  return html`<section class="card" aria-label="Stages"><div class="stages${edges.length > 0 && ' drawn'}" tabindex="0" role="region" aria-label="Graph of the stages">${edges.length > 0 && needEdges(edges, rows)}${columns}</div>
${edges.length > maxEdges && html`<p class="body muted small">The first ${maxEdges} lines between jobs are drawn. The tables below list all needs.</p>`}</section>
`;
};
