/** The merge requests of a project. */
import { may } from '../../../../core/access/may.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { type Visit, page } from '../../page.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { commentPages } from '../issuables/comment_pages.ts';
import { editCommentPages } from '../issuables/edit_comment_pages.ts';
import { quotePages } from '../issuables/quote_page.ts';
import { followPages } from '../issuables/subscription_and_todo_pages.ts';
import { taskPages } from '../issuables/task_pages.ts';
import { timeTrackingPages } from '../issuables/time_tracking_pages.ts';
import { changePages } from './actions/change_pages.ts';
import { deleteSourceBranchPages } from './actions/delete_source_branch.ts';
import { mergePages } from './actions/merge_pages.ts';
import { pickPages } from './actions/pick_pages.ts';
import { changesPages } from './changes/pages.ts';
import { conflictsPages } from './conflicts/pages.ts';
import { commitsPages } from './commits/pages.ts';
import { requestsPath, requestsRoutePath } from './paths.ts';
import { editPages } from './form/edit.ts';
import { newPages } from './form/new.ts';
import { newRequestPath } from './new_request_links.ts';
import { canPropose } from '../../parts/frame/create_in_project.ts';
import { requestKind } from './request_kind.ts';
import { requestCsv } from './list/request_csv.ts';
import { requestFeed } from './list/request_feed.ts';
import { requestList } from './list/list_view.ts';
import { requestListParams } from './list/read_query.ts';
import { pipelinesPages } from './pipelines/pages.ts';
import type { RequestListScope } from '../issuables/list/list_scope.ts';
import { showPages } from './show/pages.ts';
import { versionsPages } from './versions/pages.ts';

const feedPath = (project: Project): string => projectPagePath(project, 'merge_requests.atom');

const openPlace = async (visit: Visit, path: string): Promise<RequestListScope> => {
  const { call } = visit;
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_merge_request', project)) throw notFound();
  return {
    scope: { project },
    path: requestsPath(project),
    project,
    formats: {
      atom: feedPath(project),
      ...(call.signedIn && { csv: `${requestsPath(project)}/export` }),
    },
    newPath: (await canPropose(visit, project)) ? newRequestPath(project) : null,
    view: (title, content) =>
      projectView(
        visit,
        {
          project,
          title,
          noun: 'merge_requests',
          hasHeading: true,
          view: { feeds: [{ title: `${project.full_path} merge requests`, path: feedPath(project) }] },
        },
        content,
      ),
  };
};

const list = page({
  method: 'GET',
  path: requestsRoutePath,
  audience: 'visitor',
  params: object({ ...projectPath, ...requestListParams }),
  handle: async (visit, { project, ...query }) =>
    await requestList(visit, await openPlace(visit, project), query),
});

const csv = page({
  method: 'GET',
  path: `${requestsRoutePath}/export`,
  audience: 'user',
  params: object({ ...projectPath, ...requestListParams }),
  handle: async (visit, { project, ...query }) =>
    await requestCsv(visit, await openPlace(visit, project), query),
});

const feed = page({
  method: 'GET',
  path: `${requestsRoutePath}.atom`,
  audience: 'visitor',
  isFeed: true,
  params: object({ ...projectPath, ...requestListParams }),
  handle: async (visit, { project: path, ...query }) => {
    const list = await openPlace(visit, path);
    const self = list.formats.atom ?? '';
    return await requestFeed(visit, list, query, { title: `${path} merge requests`, self });
  },
});

export const pages = [
  list,
  csv,
  feed,
  ...newPages,
  ...editPages,
  ...showPages,
  ...commitsPages,
  ...pipelinesPages,
  ...changesPages,
  ...versionsPages,
  ...conflictsPages,
  ...changePages,
  ...mergePages,
  ...deleteSourceBranchPages,
  ...pickPages,
  ...timeTrackingPages(requestKind),
  ...taskPages(requestKind),
  ...commentPages(requestKind),
  ...editCommentPages(requestKind),
  ...quotePages(requestKind),
  ...followPages(requestKind),
];
