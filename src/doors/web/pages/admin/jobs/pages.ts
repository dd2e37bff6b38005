/** Jobs of all projects, for administrators. */
import {
  type InstanceScope,
  cancelInstanceJobs,
  countInstanceJobs,
  instanceScopes,
  listInstanceJobs,
} from '../../../../../ci/jobs/instance_jobs.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import { cancelableStatuses } from '../../../../../core/job_statuses.ts';
import { basicUsersById } from '../../../../../identity/users/json.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object, oneOf } from '../../../../../platform/http/schema.ts';
import { type Project, projectsById } from '../../../../../projects/projects/find.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form } from '../../../parts/form.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { button, projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { relative } from '../../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { statusBadge } from '../../../parts/status_badge.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

const path = '/admin/jobs';

const scopeNames: Record<InstanceScope, string> = { running: 'Running', pending: 'Pending', all: 'All' };

const emptyTexts: Record<InstanceScope, string> = {
  running: 'No running jobs',
  pending: 'No pending jobs',
  all: 'No jobs',
};

type Around = { projects: Map<number, Project>; users: Map<number, { username: string }> };

const row = (visit: Visit, job: JobRow, { projects, users }: Around): Html | null => {
  const project = projects.get(job.project_id);
  // The project is being removed.
  if (project === undefined) return null;
  const own = projectPagePath(project, `jobs/${job.id}`);
  const isOpen = cancelableStatuses.includes(job.status) && job.bridge === 0;
  const username = users.get(job.user_id ?? 0)?.username;
  return html`<tr>
<th scope="row"><a href="${job.bridge === 1 ? projectPagePath(project, `pipelines/${job.pipeline_id}`) : own}">#${job.id} ${job.name}</a></th>
<td>${statusBadge(job.status, job.allow_failure === 1)}</td>
<td><a href="/${project.full_path}">${project.full_path}</a><br><span class="quiet">${job.ref}</span></td>
<td>${username}</td>
<td>${job.runner_id !== null && html`<a href="/admin/runners/${job.runner_id}">#${job.runner_id}</a>`}</td>
<td>${relative(job.started_at ?? job.queued_at ?? job.created_at)}</td>
<td>${isOpen && button(visit, `${own}/cancel`, { label: 'Cancel', name: `Cancel job ${job.id}`, danger: true })}</td>
</tr>
`;
};

const loadAround = async ({ call: { db } }: Visit, jobs: readonly JobRow[]): Promise<Around> => {
  const [projects, users] = await Promise.all([
    projectsById(
      db,
      jobs.map(({ project_id }) => project_id),
    ),
    basicUsersById(
      db,
      jobs.map(({ user_id }) => user_id).filter((id) => id !== null),
    ),
  ]);
  return { projects, users };
};

const table = (rows: readonly (Html | null)[]): Html =>
  html`<div class="wide" tabindex="0" role="region" aria-label="Jobs"><table>
<thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col">Project and ref</th><th scope="col">User</th>
<th scope="col">Runner</th><th scope="col">Since</th><th scope="col">Action</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>`;

type Near = { scope: InstanceScope; requestedPage: PageRequest; isMore: boolean };

/** Renders links to the next and previous page. Counting all jobs of an instance takes too long for a page. */
const nearPages = ({ scope, requestedPage: { page: number, per_page }, isMore }: Near): Html | null => {
  if (number === 1 && !isMore) return null;
  const link = (to: number, text: string): Html =>
    html`<a href="${path}?scope=${scope}&amp;page=${to}&amp;per_page=${per_page}">${text}</a>`;
  return html`<nav aria-label="Pages"><p class="buttons">${number > 1 && link(number - 1, 'Previous')}
<span class="quiet">Page ${number}</span>
${isMore && link(number + 1, 'Next')}</p></nav>`;
};

const cancelPart = (visit: Visit): Html =>
  html`<details><summary>Cancel all jobs</summary><div class="card danger-zone"><div class="body">
<p>Cancels pending and running jobs of all projects, for example before maintenance. Their pipelines are canceled or fail.</p>
${form(visit, { action: `${path}/cancel`, submit: 'Cancel all pending and running jobs', danger: true })}</div></div></details>`;

type PageQuery = { scope: InstanceScope; page: number; per_page: number };

const listView = async (visit: Visit, { scope, ...query }: PageQuery): Promise<View> => {
  const { db } = visit.call;
  const requestedPage = pageRequest(query);
  const { limit, offset } = requestedPage;
  const [counts, jobs] = await Promise.all([
    countInstanceJobs(db),
    listInstanceJobs(db, scope, { limit: limit + 1, offset }),
  ]);
  const shown = jobs.slice(0, limit);
  const around = await loadAround(visit, shown);
  const links = (['running', 'pending', 'all'] as const).map((one) => ({
    path: `${path}?scope=${one}`,
    name: scopeNames[one],
    isHere: one === scope,
    count: one === 'all' ? undefined : counts[one],
  }));
  const content = html`${tabs('Jobs by state', links)}
${
  shown.length === 0
    ? html`<div class="card">${emptyState({ icon: 'pipeline', title: emptyTexts[scope] })}</div>`
    : table(shown.map((job) => row(visit, job, around)))
}
${nearPages({ scope, requestedPage, isMore: jobs.length > limit })}
${counts.pending + counts.running > 0 && cancelPart(visit)}`;
  return adminView({ path, title: 'Jobs' }, content);
};

export const jobPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({ scope: { ...oneOf(instanceScopes), default: 'running' as const }, ...pageParams }),
    handle: listView,
  }),
  page({
    method: 'POST',
    path: `${path}/cancel`,
    audience: 'admin',
    params: object({}),
    handle: async ({ call }) => {
      const count = await cancelInstanceJobs(call);
      return redirect(path, count === 1 ? '1 job was canceled.' : `${count} jobs were canceled.`);
    },
  }),
];
