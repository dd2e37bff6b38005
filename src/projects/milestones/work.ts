/** Copies the labels and milestones of former groups into the projects of a transferred group. */
import type { Platform } from '../../core/platform.ts';
import { groupTransferredWork } from '../../identity/groups/transfer.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { transferLabelsAndMilestones } from './transfer_labels_and_milestones.ts';

const projectsAtOnce = 100;

const transferInGroup = async ({ store }: Platform, namespaceId: number): Promise<void> => {
  for (let after = 0; ;) {
    const projects = await store.db
      .selectFrom('projects')
      .select(['id', 'namespace_id'])
      .where('namespace_id', 'in', selectDescendants(namespaceId))
      .where('id', '>', after)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .limit(projectsAtOnce)
      .execute();
    for (const project of projects)
      await store.write(async (tx) => await transferLabelsAndMilestones(tx, project));
    const last = projects.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
};

export const milestoneWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [groupTransferredWork]: async ({ namespace_id }) => await transferInGroup(platform, Number(namespace_id)),
});
