/** The overview of a merge request. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { withMergeStatus } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import { latestVersion } from '../../../../../review/merge_requests/versions/queries.ts';
import type { View, Visit } from '../../../page.ts';
import { checkbox, form } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { loadChoices } from '../../../parts/properties/load_choices.ts';
import { commentForm } from '../../../parts/timeline/comment_form.ts';
import { descriptionCard } from '../../../parts/timeline/description_card.ts';
import { timelinePart } from '../../../parts/timeline/timeline.ts';
import type { ShownWith } from '../../issuables/issuable_kind.ts';
import { requestPath } from '../paths.ts';
import { stickyPart } from '../frame/header.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';
import { endedBox } from './merged_or_closed_box.ts';
import { type RequestPage, loadRequestPage } from './load_overview.ts';
import { isBoxMoving, mergeBox } from './merge_box.ts';
import { loadPipelineDetails } from './pipeline_details.ts';
import { sidePart } from './properties.ts';
import { reviewPart } from './review_part.ts';
import { stackCard } from './stack_card.ts';

const deletePart = (visit: Visit, { loaded, rights }: RequestPage): Html | null =>
  rights.destroy
    ? html`<details class="act"><summary>Delete this merge request</summary>${form(
        visit,
        { action: requestPath(loaded, '/delete'), submit: 'Delete merge request', danger: true },
        checkbox({
          name: 'confirmed',
          label: `Delete !${loaded.target.iid} permanently, with all its comments`,
          checked: false,
        }),
      )}</details>`
    : null;

/**
 * Renders the part that updates itself. If scripts are off the page does not reload, because that would discard a
 * comment that somebody types.
 */
const boxPart = async (visit: Visit, shown: RequestPage): Promise<Html> => {
  const { checks, loaded } = shown;
  const version = await latestVersion(visit.call.db, loaded.merge_request);
  const commits = version?.commits_count ?? 0;
  if (checks === null) {
    return html`<div id="merge_box" data-part>${await endedBox(visit, shown, commits)}</div>`;
  }
  const open = { ...shown, checks, details: await loadPipelineDetails(visit, { ...shown, checks }) };
  return html`<div id="merge_box" data-part${isBoxMoving(open) && html` data-live=""`}>${mergeBox(visit, open, commits)}</div>`;
};

const intentOf = ({ merge_request: { state } }: LoadedMergeRequest): 'close' | 'reopen' | null =>
  state === 'opened' ? 'close' : state === 'closed' ? 'reopen' : null;

/** Renders the overview of a merge request. */
export const requestView = async (
  visit: Visit,
  found: LoadedMergeRequest,
  { page, alert, typed }: ShownWith = {},
): Promise<View> => {
  const loaded = await withMergeStatus(visit.call, found);
  const shown = await loadRequestPage(visit, loaded, page);
  const { timeline, rights } = shown;
  const choices = rights.admin ? await loadChoices(visit, loaded.project) : null;
  const comment = commentForm(visit, timeline, { word: 'merge request', intent: intentOf(loaded), typed });
  const main = html`<div class="timeline">${descriptionCard(visit, timeline)}</div>${stackCard(visit, shown)}${await boxPart(visit, shown)}${reviewPart(visit, shown)}${timelinePart(visit, timeline, { after: comment })}`;
  return await requestFrame(
    visit,
    loaded,
    { tab: 'overview', ...(alert !== undefined && { alert }) },
    html`${stickyPart(loaded)}<div class="with-aside"><div class="stack">${main}</div><div>${sidePart(visit, shown, choices)}${deletePart(visit, shown)}</div></div>`,
  );
};
