/** The facts at the top of the page of a job. */
import { may } from '../../../../core/access/may.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { Reader } from '../../../../platform/db/open.ts';
import { loadPipelines } from '../../../../ci/jobs/load_relations.ts';
import type { LoadedJob } from '../../../../ci/jobs/find.ts';
import type { jobJson } from '../../../../ci/jobs/json.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { loadRevisionLinks } from '../../parts/pipelines/revision_links.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { formatDuration } from '../../parts/times/format_duration.ts';
import { moment } from '../../parts/timestamp.ts';
import { userLink } from '../../parts/user_link.ts';
import type { Visit } from '../../page.ts';
import { startsAt } from './job_buttons.ts';

type Json = Awaited<ReturnType<typeof jobJson>>;

const fact = (name: string, value: Html | string): Html =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;

/** A fact whose value says what it is: its name is for screen readers. */
const bareFact = (name: string, value: Html | string): Html =>
  html`<div class="bare"><dt>${name}</dt><dd>${value}</dd></div>
`;

/** Loads the id of the job's environment; null if it has none, or it was deleted. */
const loadEnvironmentId = async (db: Reader, { project_id, environment }: JobRow): Promise<number | null> => {
  if (environment === null) return null;
  const row = await db
    .selectFrom('environments')
    .select('id')
    .where('project_id', '=', project_id)
    .where('name', '=', environment)
    .executeTakeFirst();
  return row?.id ?? null;
};

const environmentFact = async ({ call }: Visit, { code, job }: LoadedJob): Promise<Html | null> => {
  const { project } = code;
  if (job.environment === null) return null;
  const id = may(call.viewer, 'read_environment', project) ? await loadEnvironmentId(call.db, job) : null;
  return fact(
    'Environment',
    id === null
      ? job.environment
      : html`<a href="${projectPagePath(project, `environments/${id}`)}">${job.environment}</a>`,
  );
};

/** The list of runners where the viewer may manage this one. */
const runnerListPath = ({ call }: Visit, { code: { project } }: LoadedJob): string | null => {
  if (call.viewer.admin) return '/admin/runners';
  return may(call.viewer, 'admin_runner', project) ? projectPagePath(project, 'runners') : null;
};

const runnerFact = (visit: Visit, loaded: LoadedJob, { runner }: Json): Html | null => {
  if (runner === null) return null;
  const text = `#${runner.id} ${runner.description ?? ''}`;
  const path = runnerListPath(visit, loaded);
  return fact('Runner', path === null ? text : html`<a href="${path}#runner_${runner.id}">${text}</a>`);
};

/** Links to the job that replaced this job, and to the job that it replaced. */
const retryFacts = ({ code: { project }, job }: LoadedJob, stage: readonly JobRow[]): Html => {
  const link = (id: number): Html => html`<a href="${projectPagePath(project, `jobs/${id}`)}">#${id}</a>`;
  const next = stage.find(({ retry_of_id }) => retry_of_id === job.id);
  return html`${next !== undefined && fact('Retried by', link(next.id))}${job.retry_of_id !== null && fact('Retry of', link(job.retry_of_id))}`;
};

/** @param stage the jobs of its stage, including retried jobs */
export const jobFacts = async (
  visit: Visit,
  loaded: LoadedJob,
  { json, stage }: { json: Json; stage: readonly JobRow[] },
): Promise<Html> => {
  const { call } = visit;
  const { code, job } = loaded;
  const { project } = code;
  const revision = (await loadPipelines(call.db, [job.pipeline_id])).get(job.pipeline_id);
  // Deleted since the job was found.
  if (revision === undefined) throw notFound();
  const [links, environment] = await Promise.all([
    loadRevisionLinks(visit, project, [revision]),
    environmentFact(visit, loaded),
  ]);
  const title = links.titleOf(revision);
  return html`<dl class="fact-line">
${bareFact('Status', html`${statusBadge(job.status, json.allow_failure)}${startsAt(job)}`)}
${fact('Pipeline', html`<a href="${projectPagePath(project, `pipelines/${job.pipeline_id}`)}">#${job.pipeline_id}</a>, ${json.stage}`)}
${bareFact('Ref', links.refLink(revision))}
${bareFact('Commit', html`${links.commitLink(revision)}${title !== null && html` <span class="quiet">${title}</span>`}`)}
${json.user !== null && bareFact('Triggered by', userLink(json.user))}
${fact('Created', moment(job.created_at))}
${json.queued_duration !== null && fact('Waited', formatDuration(json.queued_duration))}
${json.duration !== null && fact(json.finished_at === null ? 'Runs for' : 'Duration', formatDuration(json.duration))}
${job.timeout !== null && fact('Timeout', formatDuration(job.timeout))}
${environment}${runnerFact(visit, loaded, json)}${retryFacts(loaded, stage)}
${json.coverage !== null && fact('Coverage', `${json.coverage} %`)}
${json.tag_list.length > 0 && fact('Tags', json.tag_list.join(', '))}
</dl>`;
};
