/** Describes issues to the pages that issues and merge requests share. */
import { type LoadedIssue, findIssue, reloadIssue } from '../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../planning/issues/noun.ts';
import { commentedIssue } from '../../../../planning/issues/quick_actions.ts';
import { updateIssue } from '../../../../planning/issues/update.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import type { IssuableKind } from '../issuables/issuable_kind.ts';
import { issuePath, issuesRoutePath } from './paths.ts';
import { issueView } from './show/issue_view.ts';

export const issueKind: IssuableKind<LoadedIssue> = {
  noun: issueNoun,
  commented: commentedIssue,
  sign: '#',
  routePath: issuesRoutePath,
  find: findIssue,
  path: issuePath,
  texts: ({ issue }) => issue,
  view: issueView,
  partView: (visit, { project }, title, content) =>
    projectView(visit, { project, title, noun: 'issues' }, content),
  close: async (call, loaded, intent) => {
    const current = await reloadIssue(call.db, loaded.project, loaded.target.id);
    await updateIssue(call, current, { state_event: intent });
  },
  describe: async (call, loaded, description, check) => {
    await updateIssue(call, loaded, { description }, check);
  },
};
