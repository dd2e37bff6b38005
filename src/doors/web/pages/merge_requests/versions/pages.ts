/** The Versions tab of a merge request: each push to the source branch, and its changes. */
import { basicUser, basicUsersById } from '../../../../../identity/users/json.ts';
import { toShortId } from '../../../../../code/repository/commits/json.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { listVersions } from '../../../../../review/merge_requests/versions/queries.ts';
import { type Visit, page } from '../../../page.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { relative } from '../../../parts/timestamp.ts';
import { userLink } from '../../../parts/user_link.ts';
import { changesPath } from '../changes/changes_address.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';

type Shown = {
  version: VersionRow;
  number: number;
  /** The version before; null if this is the first one. */
  before: VersionRow | null;
  pusher: ReturnType<typeof basicUser> | null;
  isLatest: boolean;
};

const versionLine = (loaded: LoadedMergeRequest, shown: Shown): Html => {
  const { version, number, before, pusher, isLatest } = shown;
  const { head_commit_sha: head, commits_count, real_size, created_at } = version;
  const diff_id = isLatest ? undefined : version.id;
  const since = before?.head_commit_sha ?? null;
  const previous =
    since !== null &&
    html`<a href="${changesPath(loaded, { diff_id, start_sha: since })}" aria-label="Compare version ${number} with version ${number - 1}">with version ${number - 1}</a> · `;
  return html`<tr>
<th scope="row">Version ${number}${isLatest && html` <span class="muted">latest</span>`}</th>
<td>${relative(created_at)}</td>
<td>${pusher !== null && userLink(pusher)}</td>
<td>${head !== null && html`<code>${toShortId(head)}</code>`}</td>
<td>${commits_count}</td>
<td>${real_size ?? '0'}</td>
<td>${previous}<a href="${changesPath(loaded, { diff_id })}" aria-label="Compare version ${number} with ${loaded.merge_request.target_branch}">with <code>${loaded.merge_request.target_branch}</code></a></td>
</tr>
`;
};

/** Loads one version more than the page shows: its oldest one is compared with that. */
const loadShown = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
  query: PageQuery,
): Promise<{ shown: Shown[]; total: number }> => {
  const request = pageRequest(query);
  const { items, total } = await listVersions(call.db, loaded.target.id, {
    ...request,
    limit: request.limit + 1,
  });
  const { author_id, diff_id } = loaded.merge_request;
  const number = (at: number): number => total - request.offset - at;
  // Versions of before pushers were stored: the first one is of the author.
  const pusherOf = (version: VersionRow, at: number): number | null =>
    version.pushed_by_id ?? (number(at) === 1 ? author_id : null);
  const users = await basicUsersById(
    call.db,
    items.flatMap((version, at) => pusherOf(version, at) ?? []),
  );
  const shown = items.slice(0, request.limit).map((version, at) => {
    const user = users.get(pusherOf(version, at) ?? 0);
    return {
      version,
      number: number(at),
      before: items[at + 1] ?? null,
      pusher: user === undefined ? null : basicUser(user, call),
      isLatest: version.id === diff_id,
    };
  });
  return { shown, total };
};

type PageQuery = { page?: number; per_page?: number };

const versionsPart = async (visit: Visit, loaded: LoadedMergeRequest, query: PageQuery): Promise<Html> => {
  const { shown, total } = await loadShown(visit, loaded, query);
  if (shown.length === 0) {
    return html`<section class="card">${emptyState({ icon: 'commit', title: 'No versions', text: 'Push commits to the source branch.' })}</section>`;
  }
  return html`<div class="wide" tabindex="0" role="region" aria-label="Versions"><table>
<thead><tr><th scope="col">Version</th><th scope="col">Pushed</th><th scope="col">By</th><th scope="col">Head</th>
<th scope="col">Commits</th><th scope="col">Files</th><th scope="col">Compare</th></tr></thead>
<tbody>${shown.map((one) => versionLine(loaded, one))}</tbody>
</table></div>${pagesNav({ path: requestPath(loaded, '/versions'), query: {}, page: pageRequest(query), total })}`;
};

export const versionsPages = [
  page({
    method: 'GET',
    path: `${requestsRoutePath}/:iid/versions`,
    audience: 'visitor',
    params: object({ ...oneRequest, ...pageParams }),
    handle: async (visit, { project, iid, ...query }) => {
      const loaded = await findMergeRequest(visit.call, project, iid);
      return await requestFrame(visit, loaded, { tab: 'versions' }, await versionsPart(visit, loaded, query));
    },
  }),
];
