import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import type { ProjectColumns } from './fields.ts';

/** Background work that checks the scheduled merges of requests from and into a project, or a group's projects. */
export const waitingMergesWork = 'merge_requests.auto_merge_project';

/** Enqueues the work, in the transaction of a change of the project that may end the wait of scheduled merges. */
export const enqueueWaitingMerges = async (tx: Tx, project_id: number): Promise<void> =>
  await enqueue(tx, waitingMergesWork, { project_id }, { unique_key: `${waitingMergesWork}:${project_id}` });

/** Enqueues the work for the projects of a group, and for projects that get their roles from it. */
export const enqueueWaitingMergesOfGroup = async (tx: Tx, group_id: number): Promise<void> => {
  const unique_key = `${waitingMergesWork}:group:${group_id}`;
  await enqueue(tx, waitingMergesWork, { group_id }, { unique_key });
};

const mergeSettings = [
  'only_allow_merge_if_pipeline_succeeds',
  'only_allow_merge_if_all_discussions_are_resolved',
  'merge_method',
  'merge_requests_access_level',
  'repository_access_level',
  'visibility',
] as const;

/** Returns whether the changes may end the wait of scheduled merges. */
export const mayEndWaits = (changes: ProjectColumns): boolean =>
  mergeSettings.some((name) => changes[name] !== undefined);
