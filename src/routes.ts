/** Every endpoint: the resources' lists, joined. */
import type { Call } from './access/call.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { commitDiscussionRoutes } from './discussions/commit_routes.ts';
import { deployKeyRoutes } from './deploy_keys/routes.ts';
import { gitDoors } from './git_http/routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { instanceRoutes } from './instance/routes.ts';
import { auditRoutes } from './instance/audit_routes.ts';
import { registryAuth } from './registry/routes.ts';
import { settingsRoutes } from './instance/settings_routes.ts';
import { releaseRoutes } from './releases/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { issueRoutes } from './issues/routes.ts';
import { issueTodos } from './issues/todos.ts';
import { jobTokenScopeRoutes } from './job_token_scope/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { labelRoutes } from './labels/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { closedBy } from './merge_requests/closed_by.ts';
import { mergeRequestRoutes } from './merge_requests/routes.ts';
import { mergeRequestTodos } from './merge_requests/todos.ts';
import { followTransfers } from './milestones/transfer.ts';
import { milestoneRoutes } from './milestones/routes.ts';
import { namespaceRoutes } from './namespaces/routes.ts';
import { snippetRoutes } from './snippets/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { todoRoutes } from './todos/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { uploadDoors, uploadRoutes } from './uploads/routes.ts';
import { assignIdentity } from './identities/assign.ts';
import { userRoutes } from './users/routes.ts';
import { variableRoutes } from './variables/routes.ts';
import { applicationRoutes } from './oauth/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { initializeRepository } from './repository/initialize.ts';
import { repositoryRoutes } from './repository/routes.ts';
import { resourceGroupJobRoutes } from './jobs/resource_group_jobs.ts';
import { jobRoutes } from './jobs/routes.ts';
import { reportRoutes } from './artifacts/report_routes.ts';
import { artifactDoors, artifactRoutes } from './artifacts/routes.ts';
import { environmentRoutes } from './environments/routes.ts';
import { jobParts } from './jobs/for_environments.ts';
import { badgeDoors } from './pipelines/badge_door.ts';
import { lintRoutes } from './pipelines/lint_routes.ts';
import { pipelineRoutes } from './pipelines/routes.ts';
import { resourceGroupRoutes } from './pipelines/resource_group_routes.ts';
import { scheduleRoutes } from './pipelines/schedule_routes.ts';
import { triggerRoutes } from './pipelines/trigger_routes.ts';
import { runnerApiRoutes } from './runner_api/routes.ts';
import { runnerOwnerRoutes } from './runners/owner_routes.ts';
import { runnerProgramRoutes } from './runners/program_routes.ts';
import { runnerRoutes } from './runners/routes.ts';
import { docsRoutes } from './web/docs_routes.ts';

export const endpoints: AnyEndpoint<Call>[] = [
  ...instanceRoutes,
  ...namespaceRoutes,
  ...userRoutes(assignIdentity),
  ...tokenRoutes,
  ...applicationRoutes,
  ...keyRoutes,
  ...groupRoutes,
  ...projectRoutes({ initialize: initializeRepository, followTransfer: followTransfers }),
  ...memberRoutes,
  ...deployKeyRoutes,
  ...jobTokenScopeRoutes,
  ...labelRoutes,
  ...milestoneRoutes,
  ...snippetRoutes,
  ...uploadRoutes,
  ...templateRoutes,
  ...repositoryRoutes,
  ...commitDiscussionRoutes,
  ...releaseRoutes,
  ...integrationRoutes,
  ...issueRoutes,
  closedBy,
  ...mergeRequestRoutes,
  ...lintRoutes,
  ...pipelineRoutes,
  ...jobRoutes,
  ...resourceGroupJobRoutes,
  ...artifactRoutes,
  ...reportRoutes,
  ...variableRoutes,
  ...scheduleRoutes,
  ...triggerRoutes,
  ...environmentRoutes(jobParts),
  ...resourceGroupRoutes,
  ...runnerRoutes,
  ...runnerOwnerRoutes,
  ...runnerProgramRoutes,
  ...runnerApiRoutes,
  ...todoRoutes({ Issue: issueTodos, MergeRequest: mergeRequestTodos }),
  ...settingsRoutes,
  ...auditRoutes,
  ...docsRoutes(() => endpoints),
];

/** As endpoints, but outside of the API. */
export const doors: AnyEndpoint<Call>[] = [
  ...uploadDoors,
  ...badgeDoors,
  ...artifactDoors,
  registryAuth,
  ...gitDoors,
];
