/** The header of a merge request: title, state, branches, and what may be done everywhere. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { isWorkInProgress } from '../../../../../planning/issuables/text/draft_title.ts';
import type { Visit } from '../../../page.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { spellCount } from '../../../parts/count.ts';
import { relative } from '../../../parts/moment.ts';
import type { TabCounts } from './tab_counts.ts';

const states: Record<string, readonly [style: string, image: IconName, word: string]> = {
  opened: ['open', 'merge-request', 'Open'],
  merged: ['merged', 'merge-request', 'Merged'],
  closed: ['shut', 'cross-circle', 'Closed'],
  locked: ['draft', 'lock', 'Merging'],
};

/** Renders the state of a merge request as a pill. */
const stateBadge = ({ merge_request: { state, title } }: LoadedMergeRequest): Html => {
  const [style, image, word] =
    state === 'opened' && isWorkInProgress(title)
      ? (['draft', 'pencil', 'Draft'] as const)
      : (states[state] ?? ['draft', 'info', state]);
  return html`<span class="state ${style}">${icon(image)} ${word}</span>`;
};

const targetPart = ({ project, merge_request: { target_branch } }: LoadedMergeRequest): Html =>
  html`<a href="${codePath(project, 'tree', target_branch)}"><code>${target_branch}</code></a>`;

const person = ({ name, username }: { name: string; username: string }): Html =>
  html`<a class="author" href="/${username}">${name}</a>`;

/** Says what happened, or what the author wants. */
const summary = (loaded: LoadedMergeRequest, { version }: TabCounts, source: Html): Html => {
  const { author, state, merged_by, merged_at, closed_by, closed_at } = loaded.merge_request;
  const commits = html`<b>${spellCount(version?.commits_count ?? 0, 'commit')}</b> from ${source} into ${targetPart(loaded)}`;
  if (state === 'merged') {
    return html`${person(merged_by ?? author)} merged ${commits}${merged_at !== null && html` ${relative(merged_at)}`}`;
  }
  const closed =
    state === 'closed' &&
    closed_at !== null &&
    html` · closed ${relative(closed_at)}${closed_by !== null && html` by ${closed_by.name}`}`;
  return html`${person(author)} wants to merge ${commits}${closed}`;
};

type Given = { counts: TabCounts; mayUpdate: boolean };

export const headerPart = (_visit: Visit, loaded: LoadedMergeRequest, { counts }: Given): Html => {
  const { title, iid, source_branch } = loaded.merge_request;
  const source = html`<code>${source_branch}</code>`;
  return html`<div class="stack tight"><div class="row between top"><h1>${title} <span class="muted number">!${iid}</span></h1></div>
<div class="row" id="request_state" data-part>${stateBadge(loaded)}<span class="muted">${summary(loaded, counts, source)}</span></div></div>`;
};
