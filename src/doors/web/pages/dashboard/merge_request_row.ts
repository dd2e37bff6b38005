/** Rows of merge requests of several projects in a narrow card. */
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { type ListedRequest, pathOf } from '../merge_requests/list/request_row.ts';

const states: Record<string, readonly [style: string, word: string]> = {
  opened: ['ok', 'Open'],
  merged: ['run', 'Merged'],
  closed: ['bad', 'Closed'],
  locked: ['off', 'Locked'],
};

/** Renders a merge request without facts at its side. */
export const mergeRequestRow = (request: ListedRequest): Html => {
  const { title, state, draft, author, updated_at, references } = request;
  const [style, word] = states[state] ?? ['off', state];
  return html`<li><span class="lead status ${style}">${icon('merge-request', word)}</span>
<a class="title" href="${pathOf(request)}" data-row>${title}</a>
<span class="meta">${draft && html`<span class="badge">Draft</span>`}<span>${references.full}</span><span>by ${author.name}</span><span>updated ${relative(
    Date.parse(updated_at),
  )}</span></span></li>
`;
};
