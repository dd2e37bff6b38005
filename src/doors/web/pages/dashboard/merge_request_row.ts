/** Rows of merge requests of several projects in a narrow card. */
import type { LinkedLabel } from '../../../../planning/issuables/lists/linked_labels.ts';
import type { RowFacts } from '../../../../review/merge_requests/lists/row_facts.ts';
import { type Html, html } from '../../parts/html.ts';
import { labelLinks } from './label_links.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { type ListedRequest, pathOf, readinessPart } from '../merge_requests/list/request_row.ts';

const states: Record<string, readonly [style: string, word: string]> = {
  opened: ['ok', 'Open'],
  merged: ['run', 'Merged'],
  closed: ['bad', 'Closed'],
  locked: ['off', 'Locked'],
};

type Around = { facts: RowFacts | undefined; labels: readonly LinkedLabel[] };

/** Renders a merge request with its labels, and what keeps it from being merged. */
export const mergeRequestRow = (request: ListedRequest, { facts, labels }: Around): Html => {
  const { title, state, draft, author, updated_at, references } = request;
  const [style, word] = states[state] ?? ['off', state];
  return html`<li><span class="lead status ${style}">${icon('merge-request', word)}</span>
<span class="heading"><a class="title" href="${pathOf(request)}" data-row>${title}</a> ${labelLinks('/dashboard/merge_requests', labels)}</span>
<span class="meta">${draft && html`<span class="badge">Draft</span>`}<span>${references.full}</span><span>by ${author.name}</span><span>updated ${relative(
    Date.parse(updated_at),
  )}</span>${readinessPart(request, { facts, isAnonymous: false })}</span></li>
`;
};
