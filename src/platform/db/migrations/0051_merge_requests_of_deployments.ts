import type { MigrationText } from '../ddl_keywords.ts';

/** Merge requests that each successful deployment delivered to its environment. */
export const mergeRequestsOfDeployments: MigrationText = {
  name: '0051_merge_requests_of_deployments',
  statements: ({ integer, end }) => [
    `create table deployment_merge_requests (
      merge_request_id ${integer} not null references merge_requests (id) on delete cascade,
      deployment_id ${integer} not null references deployments (id) on delete cascade,
      primary key (merge_request_id, deployment_id)
    ) ${end}`,
    'create index deployment_merge_requests_deployment on deployment_merge_requests (deployment_id)',
  ],
};
