/** Every endpoint of the API and of the other protocols. */
import type { Call } from '../core/access/call.ts';
import type { AnyEndpoint } from '../platform/http/endpoint.ts';
import { commitDiscussionRoutes } from '../planning/discussions/commits/routes.ts';
import { deployTokenRoutes } from '../projects/deploy_tokens/routes.ts';
import { deployKeyRoutes } from '../projects/deploy_keys/routes.ts';
import { eventRoutes } from '../doors/events/routes.ts';
import { gitHttpRoutes } from '../doors/git_http/routes.ts';
import { groupAvatarRoutes, groupRoutes } from '../identity/groups/routes.ts';
import { changeRoutes } from '../outgoing/change_stream/routes.ts';
import { deliveryRoutes } from '../outgoing/deliveries/routes.ts';
import { hookRoutes } from '../outgoing/hooks/routes.ts';
import { imageRoutes } from '../doors/image_proxy/routes.ts';
import { instanceRoutes } from '../doors/instance/routes.ts';
import { htmlRenderer } from '../doors/markdown/html_renderer.ts';
import { markdownRoutes } from '../doors/markdown/routes.ts';
import { broadcastMessageRoutes } from '../doors/instance/broadcast_messages/routes.ts';
import { auditRoutes } from '../doors/instance/audit_routes.ts';
import { registryAuth } from '../projects/registry/routes.ts';
import { sidekiqRoutes } from '../doors/instance/sidekiq_routes.ts';
import { settingsRoutes } from '../doors/instance/settings_routes.ts';
import { searchRoutes } from '../doors/search/routes.ts';
import { releaseRoutes } from '../code/releases/routes.ts';
import { integrationRoutes } from '../outgoing/integrations/routes.ts';
import { snippetNoteRoutes } from '../planning/snippet_notes/routes.ts';
import { boardRoutes } from '../planning/boards/routes.ts';
import { issueRoutes } from '../planning/issues/routes.ts';
import { issueTodos } from '../planning/issues/todos.ts';
import { jobTokenScopeRoutes } from '../projects/job_token_scope/routes.ts';
import { keyRoutes } from '../identity/keys/routes.ts';
import { emailRoutes } from '../identity/emails/routes.ts';
import { gpgKeyRoutes } from '../identity/gpg_keys/routes.ts';
import { labelRoutes } from '../projects/labels/routes.ts';
import { topicAvatarRoutes } from '../projects/topics/avatar_routes.ts';
import { topicRoutes } from '../projects/topics/routes.ts';
import { starRoutes } from '../projects/starrers/routes.ts';
import { notificationSettingRoutes } from '../projects/notification_settings/routes.ts';
import { accessTokenRoutes } from '../projects/access_tokens/routes.ts';
import { invitationRoutes } from '../projects/members/invitations/routes.ts';
import { shareRoutes } from '../projects/members/share_routes.ts';
import { memberRoutes } from '../projects/members/routes.ts';
import { relatedMergeRequests } from '../review/merge_requests/issues/related.ts';
import { statisticsRoutes } from '../doors/instance/statistics_routes.ts';
import { projectUserRoutes } from '../projects/members/user_and_group_routes.ts';
import { membershipRoutes } from '../identity/users/memberships/routes.ts';
import { userActivities } from '../identity/users/activities/routes.ts';
import { statusRoutes } from '../identity/users/status/routes.ts';
import { badgesRoutes } from '../projects/badges/routes.ts';
import { issueLinkRoutes } from '../planning/issues/links/routes.ts';
import { closedBy } from '../review/merge_requests/issues/closed_by.ts';
import { mergeRequestRoutes } from '../review/merge_requests/routes.ts';
import { changelogRoutes } from '../review/changelog/routes.ts';
import { mergeRequestTodos } from '../review/merge_requests/todos.ts';
import { moveRepository } from '../code/repository/moves/start_moves.ts';
import { transferLabelsAndMilestones } from '../projects/milestones/transfer_labels_and_milestones.ts';
import { milestoneRoutes } from '../projects/milestones/routes.ts';
import { namespaceRoutes } from '../identity/namespaces/routes.ts';
import { snippetRoutes } from '../projects/snippets/routes.ts';
import { projectTemplateRoutes } from '../projects/templates/project_routes.ts';
import { absentFeatureRoutes } from '../projects/absent_features/routes.ts';
import { templateRoutes } from '../projects/templates/routes.ts';
import { todoRoutes } from '../planning/todos/routes.ts';
import { tokenRoutes } from '../identity/tokens/routes.ts';
import { uploadFileRoutes, uploadRoutes } from '../projects/uploads/routes.ts';
import { assignIdentity } from '../identity/identities/assign_identity.ts';
import { userAvatarFileRoutes } from '../identity/users/avatar/routes.ts';
import { userRoutes } from '../identity/users/routes.ts';
import { variableRoutes } from '../ci/variables/routes.ts';
import { applicationRoutes } from '../identity/oauth/routes.ts';
import { projectAvatarRoutes } from '../projects/projects/avatar_routes.ts';
import { projectRoutes } from '../projects/projects/routes.ts';
import { initializeRepository } from '../code/repository/files/initialize_repository.ts';
import { repositoryRoutes } from '../code/repository/routes.ts';
import { resourceGroupJobRoutes } from '../ci/jobs/resource_group_job_routes.ts';
import { jobRoutes } from '../ci/jobs/routes.ts';
import { reportRoutes } from '../ci/artifacts/reports/routes.ts';
import { artifactRoutes, traceStreamRoutes } from '../ci/artifacts/routes.ts';
import { environmentRoutes } from '../ci/environments/routes.ts';
import { jobFunctions } from '../ci/jobs/environment_jobs.ts';
import { badgeRoutes } from '../ci/pipelines/badges/routes.ts';
import { lintRoutes } from '../ci/pipelines/lint/routes.ts';
import { pipelineRoutes } from '../ci/pipelines/routes.ts';
import { resourceGroupRoutes } from '../ci/pipelines/resource_groups/routes.ts';
import { scheduleRoutes } from '../ci/pipelines/schedules/routes.ts';
import { triggerRoutes } from '../ci/pipelines/triggers/routes.ts';
import { runnerApiRoutes } from '../ci/runner_api/routes.ts';
import { runnerOwnerRoutes } from '../ci/runners/owner_routes.ts';
import { runnerProgramRoutes } from '../ci/runners/program_routes.ts';
import { runnerRoutes } from '../ci/runners/routes.ts';
import { docsRoutes } from '../doors/web/docs/routes.ts';

export const endpoints: AnyEndpoint<Call>[] = [
  ...instanceRoutes,
  ...namespaceRoutes,
  ...userRoutes(assignIdentity),
  ...statusRoutes,
  userActivities,
  ...membershipRoutes,
  ...tokenRoutes,
  ...applicationRoutes,
  ...keyRoutes,
  ...emailRoutes,
  ...gpgKeyRoutes,
  ...groupRoutes,
  ...projectRoutes({
    initialize: initializeRepository,
    transferRecords: transferLabelsAndMilestones,
    moveRepository,
  }),
  ...topicRoutes,
  ...starRoutes,
  ...notificationSettingRoutes,
  ...memberRoutes,
  ...shareRoutes,
  ...invitationRoutes,
  ...accessTokenRoutes,
  ...projectUserRoutes,
  ...deployKeyRoutes,
  ...deployTokenRoutes,
  ...jobTokenScopeRoutes,
  ...labelRoutes,
  ...milestoneRoutes,
  ...badgesRoutes,
  ...snippetRoutes,
  ...uploadRoutes,
  ...absentFeatureRoutes,
  ...templateRoutes,
  ...projectTemplateRoutes,
  ...repositoryRoutes,
  ...commitDiscussionRoutes,
  ...releaseRoutes(htmlRenderer),
  ...integrationRoutes,
  ...hookRoutes,
  ...deliveryRoutes,
  ...changeRoutes,
  ...snippetNoteRoutes,
  ...issueRoutes,
  ...boardRoutes,
  ...issueLinkRoutes,
  closedBy,
  relatedMergeRequests,
  ...mergeRequestRoutes(htmlRenderer),
  ...changelogRoutes,
  ...lintRoutes,
  ...pipelineRoutes,
  ...jobRoutes,
  ...resourceGroupJobRoutes,
  ...artifactRoutes,
  ...reportRoutes,
  ...variableRoutes,
  ...scheduleRoutes,
  ...triggerRoutes,
  ...environmentRoutes(jobFunctions),
  ...resourceGroupRoutes,
  ...runnerRoutes,
  ...runnerOwnerRoutes,
  ...runnerProgramRoutes,
  ...runnerApiRoutes,
  ...todoRoutes({ Issue: issueTodos, MergeRequest: mergeRequestTodos }),
  ...eventRoutes,
  ...searchRoutes,
  ...statisticsRoutes,
  ...settingsRoutes,
  ...sidekiqRoutes,
  ...auditRoutes,
  ...broadcastMessageRoutes,
  ...markdownRoutes,
  ...docsRoutes(() => endpoints),
];

/** Endpoints outside the API: git over HTTP, badges, uploads and other doors. */
export const doors: AnyEndpoint<Call>[] = [
  ...uploadFileRoutes,
  ...userAvatarFileRoutes,
  ...groupAvatarRoutes,
  ...projectAvatarRoutes,
  ...topicAvatarRoutes,
  ...badgeRoutes,
  ...imageRoutes,
  ...traceStreamRoutes,
  registryAuth,
  ...gitHttpRoutes,
];
