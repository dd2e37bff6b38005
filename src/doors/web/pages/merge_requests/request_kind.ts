/** Merge requests, for the pages shared with issues. */
import {
  type LoadedMergeRequest,
  findMergeRequest,
  reloadMergeRequest,
} from '../../../../review/merge_requests/find.ts';
import { mergeRequestNoun } from '../../../../review/merge_requests/noun.ts';
import { commentedMergeRequest } from '../../../../review/merge_requests/quick_actions.ts';
import { updateMergeRequest } from '../../../../review/merge_requests/update.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import type { IssuableKind } from '../issuables/issuable_kind.ts';
import { requestPath, requestsRoutePath } from './paths.ts';
import { requestView } from './show/request_view.ts';

export const requestKind: IssuableKind<LoadedMergeRequest> = {
  noun: mergeRequestNoun,
  commented: commentedMergeRequest,
  sign: '!',
  routePath: requestsRoutePath,
  find: findMergeRequest,
  path: requestPath,
  texts: ({ merge_request }) => merge_request,
  view: async (visit, { project, target }, options) =>
    await requestView(visit, await reloadMergeRequest(visit.call.db, project, target.id), options),
  partView: (visit, { project }, title, content) =>
    projectView(visit, { project, title, noun: 'merge_requests' }, content),
  close: async (call, loaded, intent) => {
    const current = await reloadMergeRequest(call.db, loaded.project, loaded.target.id);
    await updateMergeRequest(call, current, { state_event: intent });
  },
  describe: async (call, loaded, description, check) => {
    await updateMergeRequest(call, loaded, { description }, check);
  },
};
