/** Renders commit statuses that other systems reported for a pipeline. */
import {
  externalStagePosition,
  type listExternalStatuses,
} from '../../../../ci/pipelines/statuses/external_stage.ts';
import { externalStage } from '../../../../code/repository/statuses/list.ts';
import { type Html, html } from '../../parts/html.ts';
import { stageId } from '../../parts/pipelines/stage_dots.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { formatDuration } from '../../parts/times/format_duration.ts';

type ExternalStatus = Awaited<ReturnType<typeof listExternalStatuses>>[number];

const formatElapsed = ({ started_at, finished_at }: ExternalStatus, now: number): string | null =>
  started_at === null ? null : formatDuration(Math.max(0, (finished_at ?? now) - started_at) / 1000);

const line = (status: ExternalStatus, now: number): Html => {
  const { name, target_url, description, allow_failure } = status;
  return html`<tr>
<th scope="row">${target_url === null ? name : html`<a href="${target_url}" rel="noopener noreferrer nofollow">${name}</a>`}</th>
<td>${statusBadge(status.status, allow_failure === 1)}</td>
<td>${formatElapsed(status, now)}</td>
<td>${description}</td>
</tr>
`;
};

/** Renders a table of the statuses; null if there are none. */
export const externalPart = (statuses: readonly ExternalStatus[], now: number): Html | null =>
  statuses.length === 0
    ? null
    : html`<h2 id="${stageId(externalStagePosition)}">${externalStage}</h2>
<div class="wide" tabindex="0" role="region" aria-label="External statuses"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Duration</th><th scope="col">Description</th></tr></thead>
<tbody>${statuses.map((status) => line(status, now))}</tbody>
</table></div>
`;
