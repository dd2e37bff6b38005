/** Names the merge requests that contain a commit, or that it merged. */
import { may } from '../../../../core/access/may.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { listOfCommit } from '../../../../review/merge_requests/commit_merge_requests.ts';
import type { Visit } from '../../page.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';

/** Merge requests that are named. */
const some = pageRequest({ per_page: 10 });

type Named = { iid: number; title: string; state: string };

/** Renders links to them; null if the viewer can see none. */
export const requestsOfCommit = async (
  { call }: Visit,
  project: Project,
  sha: string,
): Promise<Html | null> => {
  if (!may(call.viewer, 'read_merge_request', project)) return null;
  const { items, total } = await listOfCommit(call, project, sha, some);
  if (items.length === 0) return null;
  const requests = items.map(({ bytes }) => JSON.parse(bytes.toString('utf8')) as Named);
  const links = requests.map(
    ({ iid, title, state }, at) =>
      html`${at > 0 && ', '}<a href="${projectPagePath(project, `merge_requests/${iid}`)}">!${iid} ${title}</a> <span class="muted">${state === 'opened' ? 'open' : state}</span>`,
  );
  return html`${links}${total > items.length && ` and ${total - items.length} more`}`;
};
