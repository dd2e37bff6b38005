/** Pipelines as a table: of a project, or of a merge request. */
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { type BasicUserRow, basicUsersById } from '../../../../identity/users/json.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { may } from '../../../../core/access/may.ts';
import type { Visit } from '../../page.ts';
import { commitPath } from '../code/commit_line.ts';
import { button, projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { relative } from '../timestamp.ts';
import { statusBadge } from '../status_badge.ts';
import { isActive } from '../../../../core/job_statuses.ts';
import { formatDuration } from '../times/format_duration.ts';

type Row = { row: PipelineRow; project: Project; user: BasicUserRow | undefined; action: Html | null };

/** The button that fits the status, for users who may run jobs. Protected branches may still refuse it. */
const actionOf = (visit: Visit, project: Project, { id, status }: PipelineRow): Html | null => {
  if (!may(visit.call.viewer, 'update_job', project)) return null;
  const path = projectPagePath(project, `pipelines/${id}`);
  if (isActive(status)) return button(visit, `${path}/cancel`, { label: 'Cancel', danger: true });
  const isAgain = status === 'failed' || status === 'canceled';
  return isAgain ? button(visit, `${path}/retry`, { label: 'Retry' }) : null;
};

const line = ({ row, project, user, action }: Row): Html => html`<tr>
<th scope="row"><a href="${projectPagePath(project, `pipelines/${row.id}`)}">#${row.id}</a>${row.name !== null && html` ${row.name}`}</th>
<td>${statusBadge(row.status)}</td>
<td>${row.ref}<br><a href="${commitPath(project, row.sha)}"><code>${row.sha.slice(0, 8)}</code></a></td>
<td>${row.source.replaceAll('_', ' ')}</td>
<td>${user?.name}</td>
<td>${row.duration !== null && formatDuration(row.duration)}</td>
<td>${relative(row.created_at)}</td>
<td>${action}</td>
</tr>
`;

const table = (
  rows: readonly Row[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Pipelines"><table>
<thead><tr><th scope="col">Pipeline</th><th scope="col">Status</th><th scope="col">Branch or tag</th>
<th scope="col">Source</th><th scope="col">Triggered by</th><th scope="col">Duration</th><th scope="col">Created</th><th scope="col">Action</th></tr></thead>
<tbody>${rows.map(line)}</tbody>
</table></div>`;

/** Renders pipelines of one project. */
export const pipelineTable = async (
  visit: Visit,
  project: Project,
  items: readonly PipelineRow[],
): Promise<Html> => {
  const ids = items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]));
  const users = await basicUsersById(visit.call.db, ids);
  return table(
    items.map((row) => ({
      row,
      project,
      user: users.get(row.user_id ?? 0),
      action: actionOf(visit, project, row),
    })),
  );
};
