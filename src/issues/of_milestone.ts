/** The issues on one milestone. */
import { endpoint } from '../access/call.ts';
import { pageRequest } from '../http/page.ts';
import { ofGroupMilestone, ofMilestoneParams, ofProjectMilestone } from '../issuables/of_milestone.ts';
import { issueShape } from './json.ts';
import { listIssues } from './list.ts';
import { issueTexts } from './texts.ts';

const list = { method: 'GET', area: 'issues', audience: 'user', list: true, reply: issueShape } as const;

const ofProject = endpoint({
  ...list,
  path: '/projects/:id/milestones/:milestone_id/issues',
  summary: 'Issues on a milestone of a project',
  params: ofMilestoneParams.projects,
  handle: async (call, params) => {
    const found = await ofProjectMilestone(call, params);
    return await listIssues({ call, ...found, page: pageRequest(params), texts: issueTexts });
  },
});

const ofGroup = endpoint({
  ...list,
  path: '/groups/:id/milestones/:milestone_id/issues',
  summary: 'Issues on a milestone of a group, of all groups below it',
  params: ofMilestoneParams.groups,
  handle: async (call, params) => {
    const found = await ofGroupMilestone(call, params);
    return await listIssues({ call, ...found, page: pageRequest(params), texts: issueTexts });
  },
});

export const milestoneRoutes = [ofProject, ofGroup];
