/** The facts at the top of the page of a pipeline. */
import { may } from '../../../../../core/access/may.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import { isEnded } from '../../../../../core/job_statuses.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { loadUpstreamPipeline } from '../../../../../ci/pipelines/upstream_pipeline.ts';
import type { LoadedPipeline } from '../../../../../ci/pipelines/find.ts';
import { singlePipelineJson } from '../../../../../code/repository/statuses/pipeline_detail.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { loadRevisionLinks } from '../../../parts/pipelines/revision_links.ts';
import { statusBadge } from '../../../parts/status_badge.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import { moment } from '../../../parts/timestamp.ts';
import { userLink } from '../../../parts/user_link.ts';
import type { Visit } from '../../../page.ts';

type Upstream = Awaited<ReturnType<typeof loadUpstreamPipeline>>;

const upstreamFact = ({ project }: LoadedPipeline, upstream: Upstream): Html | null => {
  if (upstream === null) return null;
  const { id, full_path, project_id, job } = upstream;
  const place = project_id === project.id ? '' : ` of ${full_path}`;
  return html`<div><dt>Upstream</dt><dd><a href="${projectPagePath({ full_path }, `pipelines/${id}`)}">#${id}${place}</a>${job !== null && html` <span class="quiet">by ${job}</span>`}</dd></div>`;
};

/** Links to the page that says what is wrong with the file, and where. */
const validateLink = ({ call }: Visit, { project, pipeline }: LoadedPipeline): Html | null =>
  may(call.viewer, 'read_code', project)
    ? html`<p><a href="${projectPagePath(project, 'ci/lint')}?ref=${pipeline.sha}">Validate the configuration</a></p>`
    : null;

/** Counts the jobs that ended. A job that waits for a manual start has not. */
const jobsFact = (jobs: readonly JobRow[]): Html | false =>
  jobs.length > 0 &&
  html`<div class="bare"><dt>Jobs</dt><dd>${jobs.filter(({ status }) => isEnded(status)).length} of ${spellCount(jobs.length, 'job')} done</dd></div>`;

/**
 * Renders the facts, and the problems of the configuration. Also returns the title of the commit; null if the viewer
 * may not read it, or it is gone.
 * @param jobs all jobs of the pipeline; empty if they are too many to be loaded
 */
export const pipelineFacts = async (
  visit: Visit,
  loaded: LoadedPipeline,
  jobs: readonly JobRow[],
): Promise<{ markup: Html; problems: Html | false; commitTitle: string | null }> => {
  const { call } = visit;
  const { project, pipeline } = loaded;
  const [json, links, upstream] = await Promise.all([
    singlePipelineJson(call, pipeline, project),
    loadRevisionLinks(visit, project, [pipeline]),
    loadUpstreamPipeline(call, pipeline),
  ]);
  const source = pipeline.source.replaceAll('_', ' ');
  const markup = html`<dl class="fact-line">
<div class="bare"><dt>Status</dt><dd>${statusBadge(pipeline.status)}</dd></div>
<div class="bare"><dt>Ref</dt><dd>${links.refLink(pipeline)}</dd></div>
<div class="bare"><dt>Commit</dt><dd>${links.commitLink(pipeline)}</dd></div>
<div class="bare"><dt>Triggered by</dt><dd>${json.user !== null && html`${userLink(json.user)} `}<span class="quiet">${source}</span></dd></div>
${upstreamFact(loaded, upstream)}<div><dt>Created</dt><dd>${moment(pipeline.created_at)}</dd></div>
${json.queued_duration !== null && html`<div><dt>Waited</dt><dd>${formatDuration(json.queued_duration)}</dd></div>`}
${json.duration !== null && html`<div><dt>Duration</dt><dd>${formatDuration(json.duration)}</dd></div>`}
${json.coverage !== null && html`<div><dt>Coverage</dt><dd>${json.coverage} %</dd></div>`}
${jobsFact(jobs)}
</dl>`;
  const problems =
    json.yaml_errors !== null &&
    html`<div class="flash alert" role="alert"><p class="lines">${json.yaml_errors}</p>${validateLink(visit, loaded)}</div>`;
  return { markup, problems, commitTitle: links.titleOf(pipeline) };
};
