/** The Changes tab of a merge request. */
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { listChanges } from '../../../../../review/merge_requests/versions/changes.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { oneRequest, requestPath, servedRequests } from '../find.ts';
import { requestFrame } from '../frame/frame.ts';

type Changed = { old_path: string; new_path: string };

/** Reads a file of a stored version, which is JSON text, or of git. */
const toChanged = (item: unknown): Changed =>
  Buffer.isBuffer((item as JsonText).bytes)
    ? (JSON.parse((item as JsonText).bytes.toString('utf8')) as Changed)
    : (item as Changed);

export const changesPages = [
  page({
    method: 'GET',
    path: `${servedRequests}/:iid/diffs`,
    audience: 'visitor',
    params: object({ ...oneRequest, ...pageParams }),
    handle: async (visit, { project, iid, ...paging }) => {
      const loaded = await findMergeRequest(visit.call, project, iid);
      const { items, total } = await listChanges(visit.call, loaded, pageRequest(paging));
      const files = items.map(toChanged);
      const path = requestPath(loaded, '/diffs');
      return await requestFrame(
        visit,
        loaded,
        { tab: 'changes' },
        html`<ul>${files.map(({ new_path }) => html`<li>${new_path}</li>`)}</ul>
${pagesNav({ path, query: {}, page: pageRequest(paging), total })}`,
      );
    },
  }),
];
