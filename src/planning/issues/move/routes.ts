/** Endpoints that move and clone an issue. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { boolean, id, idOrPath, object } from '../../../platform/http/schema.ts';
import { findIssue } from '../find.ts';
import { singleIssueShape } from '../json.ts';
import { single } from '../single_issue.ts';
import { cloneIssue } from './clone.ts';
import { moveIssue } from './move.ts';

const area = 'issues';
const issue = { id: idOrPath('project'), issue_iid: id('iid of the issue') };

const move = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/move',
  summary: 'Move an issue to another project',
  area,
  audience: 'user',
  params: object({ ...issue, to_project_id: id('id of the target project') }),
  reply: singleIssueShape,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid, 'Issue');
    return await single(call, await moveIssue(call, loaded, params.to_project_id));
  },
});

const clone = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/clone',
  summary: 'Clone an issue into a project',
  area,
  audience: 'user',
  params: object({
    ...issue,
    to_project_id: id('id of the target project; it may be the same'),
    with_notes: boolean({ default: false, description: 'also copy the comments' }),
  }),
  reply: singleIssueShape,
  handle: async (call, { id: projectId, issue_iid, ...params }) => {
    const loaded = await findIssue(call, projectId, issue_iid, 'Issue');
    return await single(call, await cloneIssue(call, loaded, params));
  },
});

export const moveRoutes = [move, clone];
