import type { Platform } from '../access/call.ts';
import { type WorkHandler, enqueue } from '../queue/queue.ts';
import { purgeProject } from './purge.ts';

export const projectWork = ({ store }: Platform): { [name: string]: WorkHandler } => ({
  /** Removes the rows of a project that was taken away; of a large one, a part each time. */
  purge_project: async ({ project_id }) => {
    const id = Number(project_id);
    if (await purgeProject(store, id)) return;
    await store.write(
      async (tx) =>
        await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` }),
    );
  },
});
