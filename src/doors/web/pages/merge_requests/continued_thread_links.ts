/** Links to the form for an issue that continues open threads of a merge request, which the issue resolves. */
import { may } from '../../../../core/access/may.ts';
import { mayResolve } from '../../../../planning/discussions/resolve_and_reply_rules.ts';
import type { LoadedMergeRequest } from '../../../../review/merge_requests/find.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { issuesPath } from '../issues/paths.ts';

/** Returns whether the viewer may create such issues. */
export const mayContinueThreads = ({ call }: Visit, loaded: LoadedMergeRequest): boolean => {
  const { viewer, signedIn } = call;
  const { project } = loaded;
  const mayCreate = may(viewer, 'read_issue', project) && may(viewer, 'create_issue', project);
  return signedIn && mayCreate && mayResolve(call, loaded);
};

/** @param thread id of a single thread; absent: all open threads */
export const continueLink = ({ project, target }: LoadedMergeRequest, thread?: string): Html => {
  const query = new URLSearchParams({
    merge_request_to_resolve_discussions_of: String(target.iid),
    ...(thread !== undefined && { discussion_to_resolve: thread }),
  });
  const about = thread === undefined ? 'that continues all open threads' : 'that continues this thread';
  return html`<a class="button small" href="${issuesPath(project)}/new?${query.toString()}">Create issue<span class="visually-hidden"> ${about}</span></a>`;
};
