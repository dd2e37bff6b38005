/** One job of a resource group at a time, of whatever pipeline. */
import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';
import type { Job } from './store.ts';

export const assignWork = 'pipelines.assign_resource';

/**
 * Of jobs that begin to wait for a resource, or stop to, or have ended: it is given on afterwards, in a transaction
 * that holds nothing else. Who waits may be of another pipeline, and nobody may wait for a second pipeline's lock.
 */
export const resourcesChanged = async (
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
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await enqueue(tx, assignWork, { project_id, key }, { unique_key });
  }
};
