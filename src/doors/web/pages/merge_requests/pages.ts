/** The merge requests of a project. */
import { may } from '../../../../core/access/may.ts';
import { notFound } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { mergeRequestTexts } from '../../../../review/merge_requests/lists/json_cache.ts';
import { listMergeRequests } from '../../../../review/merge_requests/lists/list.ts';
import { page } from '../../page.ts';
import { projectPath, projectView } from '../../parts/frame/project_view.ts';
import { html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { mergeRequestRow, parseMergeRequest } from '../dashboard/merge_request_row.ts';
import { commentPages } from '../issuables/comment_pages.ts';
import { editCommentPages } from '../issuables/edit_comment_pages.ts';
import { followPages } from '../issuables/follow_pages.ts';
import { timeAndTaskPages } from '../issuables/time_and_task_pages.ts';
import { changePages } from './acts/change_pages.ts';
import { mergePages } from './acts/merge_pages.ts';
import { pickPages } from './acts/pick_pages.ts';
import { changesPages } from './changes/pages.ts';
import { commitsPages } from './commits/pages.ts';
import { requestsPath, servedRequests } from './find.ts';
import { requestKind } from './kind.ts';
import { pipelinesPages } from './pipelines/pages.ts';
import { showPages } from './show/pages.ts';

const list = page({
  method: 'GET',
  path: servedRequests,
  audience: 'visitor',
  params: object({ ...projectPath, ...pageParams }),
  handle: async (visit, { project: of, ...paging }) => {
    const { call } = visit;
    const project = await findProject(call, of);
    if (!may(call.viewer, 'read_merge_request', project)) throw notFound();
    const { items, total } = await listMergeRequests({
      call,
      scope: { project },
      filters: { scope: 'all', state: 'opened', order_by: 'created_at', sort: 'desc' },
      page: pageRequest(paging),
      texts: mergeRequestTexts,
    });
    const rows = items.map((item) => mergeRequestRow(parseMergeRequest(item)));
    return projectView(
      visit,
      { project, title: 'Merge requests', noun: 'merge_requests' },
      html`<section class="card" aria-label="Merge requests"><ul class="list">${rows}</ul></section>
${pagesNav({ path: requestsPath(project), query: {}, page: pageRequest(paging), total })}`,
    );
  },
});

export const pages = [
  list,
  ...showPages,
  ...commitsPages,
  ...pipelinesPages,
  ...changesPages,
  ...changePages,
  ...mergePages,
  ...pickPages,
  ...timeAndTaskPages(requestKind),
  ...commentPages(requestKind),
  ...editCommentPages(requestKind),
  ...followPages(requestKind),
];
