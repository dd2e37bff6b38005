/** Rows of merge requests of several projects. */
import type { JsonText } from '../../../../platform/http/endpoint.ts';
import { avatar } from '../../parts/avatar.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/moment.ts';

type User = { name: string; username: string; avatar_url: string | null };

/** What a row shows of the JSON of a merge request. */
export type ListedMergeRequest = {
  id: number;
  iid: number;
  title: string;
  state: string;
  draft: boolean;
  has_conflicts: boolean;
  author: User;
  reviewers: User[];
  user_notes_count: number;
  updated_at: string;
  references: { full: string };
};

/** Reads the cached JSON of a merge request. */
export const parseMergeRequest = ({ bytes }: JsonText): ListedMergeRequest =>
  JSON.parse(bytes.toString('utf8')) as ListedMergeRequest;

const states: Record<string, readonly [style: string, word: string]> = {
  opened: ['ok', 'Open'],
  merged: ['run', 'Merged'],
  closed: ['bad', 'Closed'],
  locked: ['off', 'Locked'],
};

const pathOf = ({ references: { full }, iid }: ListedMergeRequest): string =>
  `/${full.slice(0, full.lastIndexOf('!'))}/merge_requests/${iid}`;

const sidePart = ({ has_conflicts, user_notes_count: comments, reviewers }: ListedMergeRequest): Html =>
  html`<span class="side">${
    has_conflicts && html`<span class="status bad">${icon('warning')} Conflicts</span>`
  }<span title="${comments} ${comments === 1 ? 'comment' : 'comments'}">${icon('comment', 'Comments')} ${comments}</span>${
    reviewers.length > 0 &&
    html`<span class="avatars" title="Reviewers: ${reviewers.map(({ name }) => name).join(', ')}">${reviewers
      .slice(0, 4)
      .map(({ name, avatar_url }) => avatar({ name, avatar_url }))}</span>`
  }</span>`;

/** Renders a merge request. @param isBrief without facts at its side, for a narrow card */
export const mergeRequestRow = (request: ListedMergeRequest, isBrief = false): Html => {
  const { title, state, draft, author, updated_at, references } = request;
  const [style, word] = states[state] ?? ['off', state];
  return html`<li><span class="lead status ${style}">${icon('merge-request', word)}</span>
<a class="title" href="${pathOf(request)}" data-row>${title}</a>
<span class="meta">${draft && html`<span class="badge">Draft</span>`}<span>${references.full}</span><span>by ${author.name}</span><span>updated ${relative(
    Date.parse(updated_at),
  )}</span></span>${!isBrief && sidePart(request)}</li>
`;
};
