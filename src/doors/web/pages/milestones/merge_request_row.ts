/** Merge requests on the page of a milestone. */
import type { JsonText } from '../../../../platform/http/endpoint.ts';
import { type Html, html } from '../../parts/html.ts';
import { type IconName, icon } from '../../parts/icon.ts';
import { relativeTo } from '../../parts/timestamp.ts';

/** The fields of the JSON of a merge request that a row shows. */
type ListedRequest = {
  iid: number;
  title: string;
  state: string;
  created_at: string;
  author: { name: string };
  references: { full: string };
};

/** Reads the cached JSON of a merge request. */
export const parseMergeRequest = ({ bytes }: JsonText): ListedRequest =>
  JSON.parse(bytes.toString('utf8')) as ListedRequest;

const stateBadges: Record<string, readonly [image: IconName, style: string, word: string]> = {
  opened: ['merge-request', 'ok', 'Open'],
  merged: ['check-circle', 'off', 'Merged'],
  closed: ['cross-circle', 'bad', 'Closed'],
  locked: ['lock', 'wait', 'Locked'],
};

/** @param showsProject the list has merge requests of several projects */
export const milestoneRequestRow = (request: ListedRequest, showsProject: boolean): Html => {
  const { iid, title, state, created_at, author, references } = request;
  const [image, style, word] = stateBadges[state] ?? ['merge-request', 'off', state];
  const project = references.full.slice(0, references.full.lastIndexOf('!'));
  return html`<li><span class="lead status ${style}">${icon(image, word)}</span><span class="heading"><a class="title" href="/${project}/merge_requests/${iid}" data-row>${title}</a></span>
<span class="meta">${showsProject ? references.full : `!${iid}`} opened ${relativeTo(created_at)} by ${author.name}</span></li>
`;
};
