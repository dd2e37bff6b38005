/** Every kind of background work, by name: each is one call into an operation. */
import type { Platform } from './access/call.ts';
import { expireProjectWork } from './artifacts/expiry.ts';
import { artifactWork } from './artifacts/work.ts';
import { readLeft } from './artifacts/left_file.ts';
import { environmentWork } from './environments/work.ts';
import { jobParts } from './jobs/for_environments.ts';
import { mergeCompletion } from './merge_requests/complete.ts';
import { versionWork } from './merge_requests/follow_version.ts';
import { rebaseWork } from './merge_requests/rebase.ts';
import { refreshMergeRequests } from './merge_requests/refresh.ts';
import { removeSourceWork } from './merge_requests/source_branch.ts';
import { mergeRequestWork } from './merge_requests/work.ts';
import { namespaceWork } from './namespaces/work.ts';
import {
  followPush,
  followPushLater,
  followPushWork,
  followRequest,
  followRequestLater,
  followRequestWork,
} from './pipelines/follow_push.ts';
import { dropWork } from './pipelines/drop_files.ts';
import { downstreamWork } from './pipelines/queue.ts';
import { endedWork } from './pipelines/ended.ts';
import { scheduleWork } from './pipelines/schedule_work.ts';
import { pipelineWork } from './pipelines/work.ts';
import { projectWork } from './projects/work.ts';
import type { Lane } from './queue/lanes.ts';
import type { WorkHandler } from './queue/queue.ts';
import type { Completions } from './repository/operations.ts';
import { finishFork, forkWork } from './repository/fork.ts';
import { readRefsMoved, refsMovedWork } from './repository/refs_moved.ts';

/** What takes long holds up its own kind alone. All else is a few statements, one piece after another. */
export const lanes: readonly Lane[] = [
  // A configuration may be read for ten seconds; of one project, one is read at a time (`pipelines/config_turn.ts`).
  { title: 'pipelines', names: [followPushWork, followRequestWork, scheduleWork, downstreamWork], most: 3 },
  // Repositories and bytes are copied and removed.
  {
    title: 'removal',
    names: ['purge_project', 'purge_namespace', forkWork, dropWork, expireProjectWork],
    most: 1,
  },
  // git compares and merges.
  { title: 'git', names: [refsMovedWork, versionWork, rebaseWork, removeSourceWork, endedWork], most: 1 },
  { title: 'default', names: null, most: 1 },
];

/** What completes, by kind, the operations on refs that a dead process left. */
export const completionsOf = (platform: Platform): Completions => ({
  merge: mergeCompletion(platform),
});

export const workHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  ...namespaceWork(platform),
  ...projectWork(platform),
  ...mergeRequestWork(platform, async (id) => await followRequestLater(platform.store, id)),
  ...pipelineWork(platform, readLeft),
  ...artifactWork(platform),
  ...environmentWork(platform, jobParts),
  [scheduleWork]: async ({ schedule_id }) =>
    await (await import('./pipelines/run_schedule.ts')).runSchedule(platform, Number(schedule_id)),
  [forkWork]: async ({ project_id }) => await finishFork(platform, Number(project_id)),
  [refsMovedWork]: async (payload) => {
    await refreshMergeRequests(platform, readRefsMoved(payload));
    await followPushLater(platform.store, payload);
  },
  [followPushWork]: async (payload) => await followPush(platform, readRefsMoved(payload)),
  [followRequestWork]: async ({ merge_request_id }) =>
    await followRequest(platform, Number(merge_request_id)),
});
