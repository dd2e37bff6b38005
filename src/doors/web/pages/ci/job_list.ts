/** Lists the jobs of a project, newest first. */
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { listProjectJobs, scopes } from '../../../../ci/jobs/list_jobs.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { findCode } from '../../../../code/repository/find_code.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { formatDuration } from '../../parts/times/format_duration.ts';
import { secondsOf } from './job_duration.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../parts/spell_count.ts';

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

const line = (project: Project, job: JobRow, now: number): Html => {
  const took = secondsOf(job, now);
  return html`<tr>
<th scope="row"><a href="${projectPagePath(project, `jobs/${job.id}`)}">#${job.id} ${job.name}</a>${job.retried === 1 && html` <span class="badge">Retried</span>`}</th>
<td>${statusBadge(job.status, job.allow_failure === 1)}</td>
<td><a href="${projectPagePath(project, `pipelines/${job.pipeline_id}`)}">#${job.pipeline_id}</a>, ${job.stage}</td>
<td>${job.ref}</td>
<td>${took !== null && formatDuration(took)}</td>
<td>${moment(job.created_at)}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Jobs"><table>
<thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col">Pipeline and stage</th>
<th scope="col">Branch or tag</th><th scope="col">Duration</th><th scope="col">Created</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

type PageQuery = { scope?: Scope | undefined; page: number; per_page: number };

const listView = async (visit: Visit, project: Project, query: PageQuery): Promise<View> => {
  const { db, now } = visit.call;
  const { scope } = query;
  const wanted = pageRequest(query);
  const { items, total } = await listProjectJobs(db, project.id, scope === undefined ? [] : [scope], wanted);
  const path = projectPagePath(project, 'jobs');
  const content = html`${choiceTabs({ label: 'Jobs by state', path, param: 'scope', chosen: scope, names: tabNames })}
<p class="quiet">${spellCount(total, 'job')}</p>
${items.length > 0 && table(items.map((job) => line(project, job, now)))}
${pagesNav({ path, query: { scope }, page: wanted, total })}`;
  return projectView(visit, { project, title: 'Jobs', noun: 'jobs' }, content);
};

export const jobListPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/jobs`,
    audience: 'user',
    params: object({ ...projectPath, scope: optional(oneOf(scopes)), ...pageParams }),
    handle: async (visit, { project: fullPath, ...query }) => {
      const { project } = await findCode(visit.call, fullPath, 'read_job');
      return await listView(visit, project, query);
    },
  }),
];
