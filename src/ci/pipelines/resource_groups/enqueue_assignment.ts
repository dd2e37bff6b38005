/** Enqueues the assignment of resource groups, in which one job runs at a time, across pipelines. */
import type { Tx } from '../../../platform/db/open.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import type { Job } from '../pipeline_rows.ts';

export const assignWork = 'pipelines.assign_resource';

/**
 * Enqueues the assignment for the groups of jobs that began or stopped waiting, or have ended. It runs in its own
 * transaction, because the next job may be in another pipeline and no transaction locks two pipelines.
 */
export const enqueueResourceAssignment = async (
  tx: Tx,
  jobs: readonly Pick<Job, 'project_id' | 'resource_group'>[],
): Promise<void> => {
  const groups = new Map(
    jobs.flatMap(({ project_id, resource_group }) =>
      resource_group === null ? [] : [[resource_group, project_id]],
    ),
  );
  for (const [key, project_id] of groups) {
    const unique_key = `${assignWork}:${project_id}:${key}`;
    await enqueue(tx, assignWork, { project_id, key }, { unique_key });
  }
};
