/** Every kind of background work, by name: each is one call into an operation. */
import type { Platform } from './access/call.ts';
import { artifactWork } from './artifacts/work.ts';
import { readLeft } from './artifacts/left_file.ts';
import { environmentWork } from './environments/work.ts';
import { jobParts } from './jobs/for_environments.ts';
import { mergeCompletion } from './merge_requests/complete.ts';
import { refreshMergeRequests } from './merge_requests/refresh.ts';
import { mergeRequestWork } from './merge_requests/work.ts';
import { namespaceWork } from './namespaces/work.ts';
import { followPush, followRequest } from './pipelines/follow_push.ts';
import { scheduleWork } from './pipelines/schedule_work.ts';
import { pipelineWork } from './pipelines/work.ts';
import { projectWork } from './projects/work.ts';
import type { WorkHandler } from './queue/queue.ts';
import type { Completions } from './repository/operations.ts';
import { finishFork, forkWork } from './repository/fork.ts';
import { type RefsMoved, readRefsMoved, refsMovedWork } from './repository/refs_moved.ts';

/** Who follows refs that moved, one after another. */
const followers: ((platform: Platform, moved: RefsMoved) => Promise<void>)[] = [
  refreshMergeRequests,
  followPush,
];

/** What completes, by kind, the operations on refs that a dead process left. */
export const completionsOf = (platform: Platform): Completions => ({
  merge: mergeCompletion(platform),
});

export const workHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  ...namespaceWork(platform),
  ...projectWork(platform),
  ...mergeRequestWork(platform, async (id) => await followRequest(platform, id)),
  ...pipelineWork(platform, readLeft),
  ...artifactWork(platform),
  ...environmentWork(platform, jobParts),
  [scheduleWork]: async ({ schedule_id }) =>
    await (await import('./pipelines/run_schedule.ts')).runSchedule(platform, Number(schedule_id)),
  [forkWork]: async ({ project_id }) => await finishFork(platform, Number(project_id)),
  [refsMovedWork]: async (payload) => {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    for (const follow of followers) await follow(platform, readRefsMoved(payload));
  },
});
