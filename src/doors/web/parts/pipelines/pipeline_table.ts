/** Renders a table of pipelines that belong to one project. */
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { type BasicUserRow, basicUser, basicUsersById } from '../../../../identity/users/json.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { may } from '../../../../core/access/may.ts';
import type { Visit } from '../../page.ts';
import { button, projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { relative } from '../timestamp.ts';
import { statusBadge } from '../status_badge.ts';
import { isActive } from '../../../../core/job_statuses.ts';
import { formatDuration } from '../times/format_duration.ts';
import { secondsQueued } from '../../../../code/repository/statuses/pipeline_detail.ts';
import { loadFirstStages } from '../../../../ci/pipelines/load_stages.ts';
import { userLink } from '../user_link.ts';
import { type RevisionLinks, loadRevisionLinks } from './revision_links.ts';
import { maxDots, stageDots, stageIcons } from './stage_dots.ts';

type Row = {
  pipeline: PipelineRow;
  project: Project;
  user: BasicUserRow | undefined;
  stages: Html | null;
  links: RevisionLinks;
};

/**
 * Returns the cancel or retry button for the status, if the viewer may run jobs. On a protected branch the action may
 * still be refused.
 */
const actionButton = (visit: Visit, project: Project, { id, status }: PipelineRow): Html | null => {
  if (!may(visit.call.viewer, 'update_job', project)) return null;
  const path = projectPagePath(project, `pipelines/${id}`);
  if (isActive(status)) return button(visit, `${path}/cancel`, { label: 'Cancel', danger: true });
  const canRetry = status === 'failed' || status === 'canceled';
  return canRetry ? button(visit, `${path}/retry`, { label: 'Retry' }) : null;
};

/** Renders how long the pipeline ran, and how long it waited for its first job to start. */
const durationCell = (pipeline: PipelineRow): Html => {
  const queued = secondsQueued(pipeline);
  return html`${pipeline.duration !== null && formatDuration(pipeline.duration)}${queued !== null && html`<br><span class="quiet small">queued ${formatDuration(queued)}</span>`}`;
};

/** Renders the user, if there is one, and what started the pipeline. */
const startedBy = ({ call }: Visit, { source }: PipelineRow, user: BasicUserRow | undefined): Html => {
  const what = source.replaceAll('_', ' ');
  return user === undefined
    ? html`<span class="quiet">${what}</span>`
    : html`${userLink(basicUser(user, call))}<br><span class="quiet small">${what}</span>`;
};

const tableRow = (visit: Visit, { pipeline, project, user, stages, links }: Row): Html => {
  const title = links.titleOf(pipeline);
  const path = projectPagePath(project, `pipelines/${pipeline.id}`);
  // The page of a pipeline needs an account.
  const id = visit.call.signedIn ? html`<a href="${path}">#${pipeline.id}</a>` : `#${pipeline.id}`;
  return html`<tr>
<th scope="row">${id}${pipeline.name !== null && html` ${pipeline.name}`}${title !== null && html`<br><span class="quiet small">${title}</span>`}</th>
<td>${statusBadge(pipeline.status)}</td>
<td>${stages}</td>
<td>${links.refLink(pipeline)}<br>${links.commitLink(pipeline)}</td>
<td>${startedBy(visit, pipeline, user)}</td>
<td class="took">${durationCell(pipeline)}</td>
<td>${relative(pipeline.created_at)}</td>
<td>${actionButton(visit, project, pipeline)}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  rows: readonly Row[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Pipelines"><table>
<thead><tr><th scope="col">Pipeline</th><th scope="col">Status</th><th scope="col">Stages</th><th scope="col">Ref</th>
<th scope="col">Triggered by</th><th scope="col">Duration</th><th scope="col">Created</th><th scope="col">Action</th></tr></thead>
<tbody>${rows.map((row) => tableRow(visit, row))}</tbody>
</table></div>`;

export const pipelineTable = async (
  visit: Visit,
  project: Project,
  items: readonly PipelineRow[],
): Promise<Html> => {
  const userIds = items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]));
  const { db } = visit.call;
  const [users, stages, links] = await Promise.all([
    basicUsersById(db, userIds),
    loadFirstStages(
      db,
      items.map(({ id }) => id),
      maxDots + 1,
    ),
    loadRevisionLinks(visit, project, items),
  ]);
  return table(
    visit,
    items.map((pipeline) => ({
      pipeline,
      project,
      user: users.get(pipeline.user_id ?? 0),
      stages: visit.call.signedIn
        ? stageDots(projectPagePath(project, `pipelines/${pipeline.id}`), stages.get(pipeline.id) ?? [])
        : stageIcons(stages.get(pipeline.id) ?? []),
      links,
    })),
  );
};
