/** Lists the jobs of a project, newest first. */
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { listProjectJobs, scopes } from '../../../../ci/jobs/list_jobs.ts';
import { loadArtifacts, loadPipelines } from '../../../../ci/jobs/load_relations.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { may } from '../../../../core/access/may.ts';
import { isActive } from '../../../../core/job_statuses.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { findCode } from '../../../../code/repository/find_code.ts';
import { type Html, html } from '../../parts/html.ts';
import { relative } from '../../parts/timestamp.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { formatDuration } from '../../parts/times/format_duration.ts';
import { artifactsApiPath } from './job_artifacts.ts';
import { actionsOf, startsAt } from './job_buttons.ts';
import { secondsOf } from './job_duration.ts';
import { icon } from '../../parts/icon.ts';
import { type RevisionLinks, loadRevisionLinks } from '../../parts/pipelines/revision_links.ts';
import { searchForm } from '../../parts/search_form.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

type Scope = (typeof scopes)[number];

const tabNames: Record<Scope, string> = {
  created: 'Created',
  pending: 'Pending',
  running: 'Running',
  failed: 'Failed',
  success: 'Passed',
  canceled: 'Canceled',
  skipped: 'Skipped',
  manual: 'Manual',
};

type Relations = {
  pipelines: ReadonlyMap<number, PipelineRow>;
  artifacts: Awaited<ReturnType<typeof loadArtifacts>>;
  links: RevisionLinks;
};

/** Loads what the rows show, in a constant number of statements. */
const loadRelations = async (visit: Visit, project: Project, jobs: readonly JobRow[]): Promise<Relations> => {
  const { db, now } = visit.call;
  const jobIds = jobs.map(({ id }) => id);
  const pipelineIds = [...new Set(jobs.map(({ pipeline_id }) => pipeline_id))];
  const [pipelines, artifacts] = await Promise.all([
    loadPipelines(db, pipelineIds),
    loadArtifacts(db, jobIds, now),
  ]);
  return { pipelines, artifacts, links: await loadRevisionLinks(visit, project, [...pipelines.values()]) };
};

/** Renders the buttons, and the link to the artifacts. On a protected branch the action may still be refused. */
const actionsCell = (visit: Visit, project: Project, job: JobRow, { artifacts }: Relations): Html => {
  const path = projectPagePath(project, `jobs/${job.id}`);
  const hasArchive = artifacts.get(job.id)?.some(({ file_type }) => file_type === 'archive') === true;
  const actions = may(visit.call.viewer, 'update_job', project) ? actionsOf(visit, { path, job }) : [];
  return html`<div class="row">${hasArchive && html`<a class="button small icon-button" href="${artifactsApiPath(project.id, job.id)}" title="Download artifacts of ${job.name}">${icon('download', `Download artifacts of ${job.name}`)}</a>`}${actions.filter(({ inLists }) => inLists).map(({ markup }) => markup)}</div>`;
};

const line = (visit: Visit, project: Project, job: JobRow, relations: Relations): Html => {
  const took = secondsOf(job, visit.call.now);
  const pipeline = relations.pipelines.get(job.pipeline_id);
  const { links } = relations;
  return html`<tr>
<th scope="row"><a href="${projectPagePath(project, `jobs/${job.id}`)}">#${job.id} ${job.name}</a>${job.retried === 1 && html` <span class="badge">Retried</span>`}</th>
<td>${statusBadge(job.status, job.allow_failure === 1)}${startsAt(job)}</td>
<td><a href="${projectPagePath(project, `pipelines/${job.pipeline_id}`)}">#${job.pipeline_id}</a>, ${job.stage}</td>
<td>${pipeline !== undefined && html`${links.refLink(pipeline)}<br>${links.commitLink(pipeline)}`}</td>
<td>${took !== null && formatDuration(took)}</td>
<td>${relative(job.created_at)}</td>
<td>${actionsCell(visit, project, job, relations)}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Jobs"><table>
<thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col">Pipeline and stage</th>
<th scope="col">Ref</th><th scope="col">Duration</th><th scope="col">Created</th><th scope="col">Actions</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

type PageQuery = {
  scope?: Scope | undefined;
  search?: string | null | undefined;
  page: number;
  per_page: number;
};

const listView = async (visit: Visit, project: Project, query: PageQuery): Promise<View> => {
  const { scope } = query;
  const search = query.search?.trim() ?? '';
  const requestedPage = pageRequest(query);
  const filter = { scope: scope === undefined ? [] : [scope], search };
  const { items, total } = await listProjectJobs(visit.call, project.id, filter, requestedPage);
  const path = projectPagePath(project, 'jobs');
  const keep = search === '' ? {} : { search };
  const isLive = items.some(({ status }) => isActive(status));
  const relations = items.length === 0 ? null : await loadRelations(visit, project, items);
  const content = html`${choiceTabs({ label: 'Jobs by state', path, param: 'scope', chosen: scope, names: tabNames, keep })}
${searchForm({ path, name: 'search', value: search, label: 'Search by name', keep: { scope } })}
<div id="jobs" class="stack" data-part${isLive && html` data-live=""`}><p class="quiet">${spellCount(total, 'job')}</p>
${relations !== null && table(items.map((job) => line(visit, project, job, relations)))}</div>
${pagesNav({ path, query: { scope, ...keep }, page: requestedPage, total })}`;
  // If scripts are off the page does not reload, because that would discard a name that somebody types.
  return projectView(visit, { project, title: 'Jobs', noun: 'jobs' }, content);
};

export const jobListPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/jobs`,
    audience: 'user',
    params: object({
      ...projectPath,
      scope: optional(oneOf(scopes)),
      search: optional(clearable(text())),
      ...pageParams,
    }),
    handle: async (visit, { project: fullPath, ...query }) => {
      const { project } = await findCode(visit.call, fullPath, 'read_job');
      return await listView(visit, project, query);
    },
  }),
];
