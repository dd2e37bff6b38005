/**
 * Endpoints with a statement that reads every record of a kind, by path, with the most steps that it may take at 3,000
 * of each. Only lists over all projects of a group are added here, since they look at the visibility of each. A change
 * that makes an endpoint faster lowers its number or removes its line.
 */
export const knownSteps = new Map<string, number>([
  ['/application/statistics', 105_000],
  ['/groups/:id', 70_000],
  ['/groups/:id/issues', 65_000],
  ['/groups/:id/issues_statistics', 65_000],
  ['/groups/:id/merge_requests', 65_000],
  ['/groups/:id/projects', 85_000],
  ['/groups/:id/releases', 65_000],
  ['/issues_statistics', 34_000],
  ['/merge_requests', 38_000],
  ['/namespaces', 70_000],
  ['/namespaces/:id', 70_000],
  ['/projects', 60_000],
  ['/projects/:id/issues/:issue_iid/discussions', 50_000],
  ['/projects/:id/issues/:issue_iid/participants', 38_000],
  ['/projects/:id/labels', 42_000],
  ['/projects/:id/members/all', 90_000],
  ['/projects/:id/merge_requests/:merge_request_iid/discussions', 50_000],
  ['/projects/:id/merge_requests/:merge_request_iid/participants', 38_000],
  ['/projects/:id/milestones', 105_000],
  ['/projects/:id/users', 90_000],
  ['/todos', 65_000],
  ['/users/:user_id/starred_projects', 58_000],
]);

/** The same of writes: what they change in all projects of a group, and work in batches of 500 rows. */
export const knownWriteSteps = new Map<string, number>([
  ['DELETE /projects/:id/artifacts', 50_000],
  ['POST /projects/:id/milestones/:milestone_id/promote', 105_000],
  ['PUT /projects/:id/labels/:label_id/promote', 105_000],
  ['PUT /projects/:id/labels/promote', 105_000],
]);
