/** Pipelines as a table: of a project, or of a merge request. */
import type { Call } from '../../../../core/access/call.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { type BasicUserRow, basicUsersById } from '../../../../identity/users/json.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { relative } from '../timestamp.ts';
import { spell, statusBadge } from '../status_badge.ts';

type Row = { row: PipelineRow; project: Project; user: BasicUserRow | undefined };

const line = ({ row, project, user }: Row): Html => html`<tr>
<th scope="row"><a href="${projectPagePath(project, `pipelines/${row.id}`)}">#${row.id}</a>${row.name !== null && html` ${row.name}`}</th>
<td>${statusBadge(row.status)}</td>
<td>${row.ref}<br><code>${row.sha.slice(0, 8)}</code></td>
<td>${row.source.replaceAll('_', ' ')}</td>
<td>${user?.name}</td>
<td>${row.duration !== null && spell(row.duration)}</td>
<td>${relative(row.created_at)}</td>
</tr>
`;

const table = (
  rows: readonly Row[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Pipelines"><table>
<thead><tr><th scope="col">Pipeline</th><th scope="col">Status</th><th scope="col">Branch or tag</th>
<th scope="col">Source</th><th scope="col">Triggered by</th><th scope="col">Duration</th><th scope="col">Created</th></tr></thead>
<tbody>${rows.map(line)}</tbody>
</table></div>`;

/** Renders pipelines of one project. */
export const pipelineTable = async (
  { db }: Pick<Call, 'db'>,
  project: Project,
  items: readonly PipelineRow[],
): Promise<Html> => {
  const ids = items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]));
  const users = await basicUsersById(db, ids);
  return table(items.map((row) => ({ row, project, user: users.get(row.user_id ?? 0) })));
};
