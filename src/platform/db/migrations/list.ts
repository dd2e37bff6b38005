import { begin } from './0001_begin.ts';
import { settings } from './0002_settings.ts';
import { sessions } from './0003_sessions.ts';
import { oauth } from './0004_oauth.ts';
import { keys } from './0005_keys.ts';
import { snippetsUploads } from './0006_snippets_uploads.ts';
import { twoFactor } from './0007_two_factor.ts';
import { uncheckedEmail } from './0008_unchecked_email.ts';
import { repository } from './0009_repository.ts';
import { mergeRequestTables } from './0010_merge_requests.ts';
import { discussions } from './0011_discussions.ts';
import { ci } from './0012_ci.ts';
import { downstream } from './0013_downstream.ts';
import { movedAndDrafted } from './0014_moved_and_drafted.ts';
import { artifacts } from './0016_artifacts.ts';
import { crossReferences } from './0017_cross_references.ts';
import { artifactSizes } from './0018_artifact_sizes.ts';
import { debugTraces } from './0019_debug_traces.ts';
import { waitingTraces } from './0021_waiting_traces.ts';
import { acrossProjects } from './0023_across_projects.ts';
import { jobTokenLists } from './0024_job_token_lists.ts';
import { workTurns } from './0026_work_turns.ts';
import { excusedAttempts } from './0037_excused_attempts.ts';
import { workHolders } from './0028_work_holders.ts';
import { repositoryPlaces } from './0029_repository_places.ts';
import { reviewerTables } from './0039_reviewers.ts';
import { relatedVersions } from './0040_related_versions.ts';
import { projectsLimits } from './0042_projects_limits.ts';
import { projectAndGroupOptions } from './0043_project_and_group_options.ts';
import { externalStatuses } from './0027_external_statuses.ts';
import { gracefulCancel } from './0046_graceful_cancel.ts';
import { requiredSecondFactor } from './0047_required_second_factor.ts';
import { keptAttributes } from './0048_kept_attributes.ts';
import { countedIndexes } from './0049_counted_indexes.ts';
import { traceKeys } from './0050_trace_keys.ts';
import { mergeRequestsOfDeployments } from './0051_merge_requests_of_deployments.ts';
import { projectStars } from './0052_project_stars.ts';
import { avatars } from './0054_avatars.ts';
import { notificationSettings } from './0053_notification_settings.ts';
import { impersonation } from './0055_impersonation.ts';
import { hooks } from './0056_hooks.ts';
import { activities } from './0059_activities.ts';
import { resourceEvents } from './0060_resource_events.ts';
import { statusesBadgesLinks } from './0061_statuses_badges_links.ts';
import { viewedFiles } from './0064_viewed_files.ts';
import { appliedSuggestions } from './0065_applied_suggestions.ts';
import { trigramSearch } from './0068_trigram_search.ts';
import { codeSearch } from './0069_code_search.ts';
import { changeStream } from './0070_change_stream.ts';
import { counters } from './0033_counters.ts';
import { mails } from './0071_mails.ts';
import { hookFormats } from './0072_hook_formats.ts';
import { relativePositions } from './0073_relative_positions.ts';
import { boards } from './0074_boards.ts';
import { feedTokens } from './0077_feed_tokens.ts';
import { savedViews } from './0078_saved_views.ts';
import { topics } from './0082_topics.ts';
import { internalNotes } from './0083_internal_notes.ts';
import { broadcastMessages } from './0084_broadcast_messages.ts';
import { bots } from './0085_bots.ts';
import { deployTokens } from './0086_deploy_tokens.ts';
import { groupLinks } from './0087_group_links.ts';
import { backups } from './0093_backups.ts';
import { prunedChanges } from './0115_pruned_changes.ts';
import { repositoryMoves } from './0125_repository_moves.ts';
import { workTraces } from './0126_work_traces.ts';
import { fewerPages } from './0127_fewer_pages.ts';
import { invitations } from './0133_invitations.ts';
import { gpgKeys } from './0134_gpg_keys.ts';
import { versionPushers } from './0146_version_pushers.ts';
import { projectOptions } from './0154_project_options.ts';
import { snippetFiles } from './0170_snippet_files.ts';
import { snippetNotes } from './0171_snippet_notes.ts';
import { emails } from './0172_emails.ts';
import { tokenAddresses } from './0175_token_addresses.ts';
import { passkeys } from './0176_passkeys.ts';
import { projectImports } from './0177_project_imports.ts';
import { scheduledMerges } from './0181_scheduled_merges.ts';
import { plannerStatistics } from './0182_planner_statistics.ts';
import { artifactsOfProject } from './0183_artifacts_of_project.ts';
import { dropArtifactsSizes } from './0184_drop_artifacts_sizes.ts';
import { dueIssues } from './0185_due_issues.ts';
import { failingHooks } from './0188_failing_hooks.ts';
import { issueOrders } from './0195_issue_orders.ts';
import { mergeRequestOrders } from './0196_merge_request_orders.ts';
import { excusedImports } from './0198_excused_imports.ts';
import { movesWithoutHooks } from './0200_moves_without_hooks.ts';
import { lastEdits } from './0201_last_edits.ts';
import { userPreferences } from './0202_user_preferences.ts';
import { backupProgress } from './0203_backup_progress.ts';
import { hookIntegrations } from './0207_hook_integrations.ts';
import { sharedDeployKeys } from './0208_shared_deploy_keys.ts';
import { expiringMembers } from './0210_expiring_members.ts';
import { keyAddresses } from './0213_key_addresses.ts';
import { archivedProjects } from './0214_archived_projects.ts';
import { lastReviews } from './0216_last_reviews.ts';
import { refEventIndex } from './0221_ref_event_index.ts';
import { dropEventsProject } from './0222_drop_events_project.ts';
import { timelogSummaries } from './0225_timelog_summaries.ts';
import { userActivityIndex } from './0230_user_activity_index.ts';
import { mailHtml } from './0223_mail_html.ts';
import { watcherIndex } from './0226_watcher_index.ts';
import { sortedLists } from './0229_sorted_lists.ts';
import type { MigrationText } from '../ddl_keywords.ts';

/** Every migration, oldest first. Released migrations must not be edited. */
export const migrationTexts: MigrationText[] = [
  begin,
  settings,
  sessions,
  oauth,
  keys,
  snippetsUploads,
  twoFactor,
  uncheckedEmail,
  repository,
  mergeRequestTables,
  discussions,
  ci,
  downstream,
  movedAndDrafted,
  artifacts,
  crossReferences,
  artifactSizes,
  debugTraces,
  waitingTraces,
  acrossProjects,
  jobTokenLists,
  workTurns,
  externalStatuses,
  workHolders,
  repositoryPlaces,
  counters,
  excusedAttempts,
  reviewerTables,
  relatedVersions,
  projectsLimits,
  projectAndGroupOptions,
  gracefulCancel,
  requiredSecondFactor,
  keptAttributes,
  countedIndexes,
  traceKeys,
  mergeRequestsOfDeployments,
  projectStars,
  notificationSettings,
  avatars,
  impersonation,
  hooks,
  activities,
  resourceEvents,
  statusesBadgesLinks,
  viewedFiles,
  appliedSuggestions,
  trigramSearch,
  codeSearch,
  changeStream,
  mails,
  hookFormats,
  relativePositions,
  boards,
  feedTokens,
  savedViews,
  topics,
  internalNotes,
  broadcastMessages,
  bots,
  deployTokens,
  groupLinks,
  backups,
  prunedChanges,
  repositoryMoves,
  workTraces,
  fewerPages,
  invitations,
  gpgKeys,
  versionPushers,
  projectOptions,
  snippetFiles,
  snippetNotes,
  emails,
  tokenAddresses,
  passkeys,
  projectImports,
  scheduledMerges,
  plannerStatistics,
  artifactsOfProject,
  dropArtifactsSizes,
  dueIssues,
  failingHooks,
  issueOrders,
  mergeRequestOrders,
  excusedImports,
  movesWithoutHooks,
  lastEdits,
  userPreferences,
  backupProgress,
  hookIntegrations,
  sharedDeployKeys,
  expiringMembers,
  keyAddresses,
  archivedProjects,
  lastReviews,
  refEventIndex,
  dropEventsProject,
  mailHtml,
  timelogSummaries,
  watcherIndex,
  sortedLists,
  userActivityIndex,
];
