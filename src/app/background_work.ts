/** The handlers of background work by kind. Each handler calls one operation. */
import type { Platform } from '../core/platform.ts';
import { expireProjectWork } from '../ci/artifacts/store/expire_artifacts.ts';
import { artifactWork } from '../ci/artifacts/work.ts';
import { readArchiveTextFile } from '../ci/artifacts/store/read_archive_text_file.ts';
import { environmentWork } from '../ci/environments/work.ts';
import { jobFunctions } from '../ci/jobs/environment_jobs.ts';
import { mergeCompletion } from '../review/merge_requests/merging/complete_merge.ts';
import { versionWork } from '../review/merge_requests/versions/follow_version.ts';
import { autoMergeWork } from '../planning/issuables/auto_merge_work.ts';
import { rebaseWork } from '../review/merge_requests/merging/rebase.ts';
import { refreshMergeRequests } from '../review/merge_requests/refresh/refresh_merge_requests.ts';
import { removeSourceWork } from '../review/merge_requests/merging/remove_source_branch.ts';
import { mergeRequestWork } from '../review/merge_requests/work.ts';
import { deliverHooksWork } from '../outgoing/changes/observe.ts';
import { deliverHandlers } from '../outgoing/deliveries/deliver.ts';
import { pausedHookHandlers, probeWork } from '../outgoing/deliveries/paused_hooks.ts';
import { resumeWork } from '../outgoing/hooks/topic.ts';
import { emailConfirmationHandlers } from '../outgoing/mail/email_confirmation_mails.ts';
import { invitationMailHandlers } from '../outgoing/mail/invitation_mails.ts';
import { dueIssueHandlers, dueIssuesWork } from '../outgoing/mail/due_issues.ts';
import { mailHandlers } from '../outgoing/mail/send.ts';
import { notifyWork } from '../outgoing/mail/observe.ts';
import { sendEmailConfirmationWork, sendInvitationWork, sendMailWork } from '../core/mail/enqueue_mails.ts';
import { requestLinkHandlers, requestLinkWork } from '../identity/account_mails/request_link.ts';
import { removeAvatarWork } from '../identity/avatars/store_avatar.ts';
import { avatarWork } from '../identity/avatars/work.ts';
import { groupTransferredWork } from '../identity/groups/transfer.ts';
import { namespaceWork } from '../identity/namespaces/work.ts';
import {
  followPush,
  enqueueFollowPush,
  followPushWork,
  followRequest,
  enqueueFollowRequest,
  followRequestWork,
} from '../ci/pipelines/creation/follow_push.ts';
import { jobFileDeletionWork } from '../ci/pipelines/enqueue_job_file_deletion.ts';
import { downstreamWork } from '../ci/pipelines/processing/pending_jobs.ts';
import { endedWork } from '../ci/pipelines/enqueue_pipeline_ended.ts';
import { scheduleWork } from '../ci/pipelines/schedules/work.ts';
import { pipelineWork } from '../ci/pipelines/work.ts';
import { milestoneWork } from '../projects/milestones/work.ts';
import { projectWork } from '../projects/projects/removal/work.ts';
import { importWork } from '../projects/projects/imports/schedule_import.ts';
import { indexCodeWork } from '../projects/projects/enqueue_code_index.ts';
import { backupWork, requestedBackupWork } from '../doors/instance/health/running_backup.ts';
import { backupHandlers } from './backup/scheduled_backups.ts';
import { holdOutgoing } from './service/quiet.ts';
import { holdRemovals } from './backup/removal_work.ts';
import type { Lane } from '../platform/queue/lanes.ts';
import type { WorkHandler } from '../platform/queue/enqueue.ts';
import type { Completions } from '../code/repository/refs/operations.ts';
import { finishFork, forkWork } from '../code/repository/forks/fork.ts';
import { indexCode, indexMovedBranch } from '../code/repository/search/index_code.ts';
import { removeCopyWork } from '../code/repository/moves/move_repository.ts';
import { runImport } from '../code/repository/imports/run_import.ts';
import { moveAllWork, moveWork } from '../code/repository/moves/schedule_move.ts';
import { storageMoveWork } from '../code/repository/moves/work.ts';
import { housekeepingWork, runHousekeeping } from '../code/repository/housekeeping.ts';
import { describePushes } from '../code/repository/refs/describe_pushes.ts';
import { readRefsMoved, recordActivityAt, refsMovedWork } from '../code/repository/refs/refs_moved.ts';

/** Slow kinds run in separate lanes, so that they delay only themselves. Other kinds share one lane. */
export const lanes: readonly Lane[] = [
  // Reading a configuration takes up to ten seconds; `ci/pipelines/config/config_mutex.ts` reads one at a time per project.
  {
    title: 'pipelines',
    names: [followPushWork, followRequestWork, scheduleWork, downstreamWork],
    maxPieces: 3,
  },
  // Copying and removing repositories, blobs and rows of many projects.
  {
    title: 'removal',
    names: [
      'purge_project',
      'purge_namespace',
      groupTransferredWork,
      forkWork,
      jobFileDeletionWork,
      removeAvatarWork,
      expireProjectWork,
    ],
    maxPieces: 1,
  },
  // Comparing and merging with git.
  {
    title: 'git',
    names: [refsMovedWork, versionWork, rebaseWork, autoMergeWork, removeSourceWork, endedWork],
    maxPieces: 1,
  },
  // Reading whole repositories.
  { title: 'search', names: [indexCodeWork, housekeepingWork], maxPieces: 1 },
  // Requests to other systems, which may take ten seconds each.
  { title: 'hooks', names: [deliverHooksWork, probeWork, resumeWork], maxPieces: 20 },
  // The mail server may take long, or be away.
  {
    title: 'mail',
    names: [
      notifyWork,
      dueIssuesWork,
      sendMailWork,
      sendInvitationWork,
      sendEmailConfirmationWork,
      requestLinkWork,
    ],
    maxPieces: 5,
  },
  // Copying whole repositories.
  { title: 'storages', names: [moveWork, moveAllWork, removeCopyWork], maxPieces: 2 },
  // Receiving whole repositories from other servers.
  { title: 'imports', names: [importWork], maxPieces: 4 },
  // A whole backup and its verification.
  { title: 'backup', names: [backupWork, requestedBackupWork], maxPieces: 1 },
  { title: 'default', names: null, maxPieces: 1 },
];

/** Returns, by kind, the functions that complete ref operations interrupted by the death of a process. */
export const makeCompletions = (platform: Platform): Completions => ({
  merge: mergeCompletion(platform),
});

const allHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  ...avatarWork(platform),
  ...namespaceWork(platform),
  ...milestoneWork(platform),
  ...projectWork(platform),
  ...mergeRequestWork(platform, async (id) => await enqueueFollowRequest(platform.store, id)),
  ...pipelineWork(platform, readArchiveTextFile),
  ...artifactWork(platform),
  ...deliverHandlers(platform),
  ...pausedHookHandlers(platform),
  ...mailHandlers(platform),
  ...dueIssueHandlers(platform),
  ...invitationMailHandlers(platform),
  ...emailConfirmationHandlers(platform),
  ...requestLinkHandlers(platform),
  ...environmentWork(platform, jobFunctions),
  ...storageMoveWork(platform),
  ...backupHandlers(platform),
  [scheduleWork]: async ({ schedule_id }) =>
    await (
      await import('../ci/pipelines/schedules/run_schedule.ts')
    ).runSchedule(platform, Number(schedule_id)),
  [housekeepingWork]: async ({ project_id }) => await runHousekeeping(platform, Number(project_id)),
  [indexCodeWork]: async ({ project_id }) => await indexCode(platform, Number(project_id)),
  [importWork]: async ({ project_id }, { stopping }) =>
    await runImport(platform, Number(project_id), stopping),
  [forkWork]: async ({ project_id }) => await finishFork(platform, Number(project_id)),
  [refsMovedWork]: async (payload) => {
    await recordActivityAt(platform.store, readRefsMoved(payload));
    await describePushes(platform, readRefsMoved(payload));
    await refreshMergeRequests(platform, readRefsMoved(payload));
    await indexMovedBranch(platform.store, readRefsMoved(payload));
    await enqueueFollowPush(platform.store, payload);
  },
  [followPushWork]: async (payload) => await followPush(platform, readRefsMoved(payload)),
  [followRequestWork]: async ({ merge_request_id }) =>
    await followRequest(platform, Number(merge_request_id)),
});

/** Work that waits for the end of a pause, and checks whether it has passed. */
export const pausingWork: readonly string[] = [deliverHooksWork, probeWork, sendMailWork];

/** Work that reaches other systems, or begins by the clock. */
const outgoingWork = [
  ...lanes.flatMap(({ title, names }) => (['hooks', 'mail', 'imports'].includes(title) ? (names ?? []) : [])),
  scheduleWork,
  backupWork,
  requestedBackupWork,
];

export const workHandlers = (platform: Platform): { [name: string]: WorkHandler } =>
  holdOutgoing(platform, holdRemovals(platform, allHandlers(platform)), outgoingWork);
