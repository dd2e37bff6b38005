/** A project's storage and sizes, for administrators. */
import { getRepositoryPath } from '../../../../../platform/git/storages.ts';
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { findProject } from '../../../../../projects/projects/find.ts';
import {
  type ProjectStatistics,
  loadStatistics,
} from '../../../../../projects/projects/related/statistics.ts';
import { type ProjectRow, projectRows } from '../../../../../projects/projects/rows.ts';
import { Failure, notFound } from '../../../../../platform/errors.ts';
import { pathLinks } from '../../../parts/frame/path_links.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment } from '../../../parts/timestamp.ts';
import { formatBytes } from '../../../../../platform/format_bytes.ts';
import { type Visit, page } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { projectsPath } from './list.ts';

const inAll = new Intl.NumberFormat('en-US');

/** Loads the sizes; null if the storage is not available. */
const statisticsOrNull = async ({ call }: Visit, row: ProjectRow): Promise<ProjectStatistics | null> => {
  try {
    return (await loadStatistics(call, [row])).get(row.id) ?? null;
  } catch (error) {
    if (isGitFailure(error) || error instanceof Failure) return null;
    throw error;
  }
};

const sizes = (statistics: ProjectStatistics | null): Html => {
  if (statistics === null) return html`<p class="flash warning">The repository storage is not available.</p>`;
  const { commit_count, storage_size, repository_size, job_artifacts_size } = statistics;
  return html`<dl class="figures">
<div><dt>Total</dt><dd>${formatBytes(storage_size)}</dd></div>
<div><dt>Repository</dt><dd>${formatBytes(repository_size)}</dd></div>
<div><dt>Job artifacts and logs</dt><dd>${formatBytes(job_artifacts_size)}</dd></div>
<div><dt>Commits</dt><dd>${inAll.format(commit_count)}</dd></div>
</dl>`;
};

const facts = (row: ProjectRow): Html => html`<dl class="figures">
<div><dt>ID</dt><dd>${row.id}</dd></div>
<div><dt>Visibility</dt><dd>${row.visibility}</dd></div>
<div><dt>Created</dt><dd>${moment(row.created_at)}</dd></div>
<div><dt>Last activity</dt><dd>${moment(row.last_activity_at)}</dd></div>
</dl>`;

const settingsLink = ({ call }: Visit, { full_path }: ProjectRow): Html | null =>
  call.platform.hasPage('GET /-/projects/:project/settings')
    ? html`<a class="button" href="/${full_path}/-/settings">${icon('settings')} Settings, transfer and deletion</a>`
    : null;

export const onePages = [
  page({
    method: 'GET',
    path: `${projectsPath}/:id`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      const { call } = visit;
      const project = await findProject(call, params.id);
      const row = await projectRows(call).where('projects.id', '=', project.id).executeTakeFirst();
      if (row === undefined) throw notFound('Project');
      const content = html`<div class="row between">${pathLinks(row.full_path)}${settingsLink(visit, row)}</div>
${facts(row)}
${sizes(await statisticsOrNull(visit, row))}
<div class="card"><header><h2>Repository</h2></header><div class="body"><dl>
<dt>Storage</dt><dd><a href="${projectsPath}?storage=${row.repository_storage}">${row.repository_storage}</a></dd>
<dt>Path in the storage</dt><dd><code>${getRepositoryPath(row)}</code></dd>
</dl></div></div>
<p><a href="/admin/audit_events?target_type=Project&amp;target_id=${row.id}">Audit log of this project</a></p>`;
      return adminView({ path: projectsPath, title: row.name }, content);
    },
  }),
];
