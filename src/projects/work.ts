import type { Platform } from '../access/call.ts';
import { projectArea } from '../blob/files.ts';
import type { RepositoryPlace } from '../git/repository.ts';
import { type WorkHandler, enqueue } from '../queue/queue.ts';
import { purgeProject } from './purge.ts';

export const projectWork = ({ store, blobs, traces, git }: Platform): { [name: string]: WorkHandler } => ({
  /** Removes the rows of a project that was taken away; of a large one, a part each time. */
  purge_project: async ({ project_id }) => {
    const id = Number(project_id);
    const removeFiles = async (place: RepositoryPlace): Promise<void> => {
      await blobs.removeArea(projectArea(id));
      await traces.removeProject(id);
      await git.repository(place).ask('repository.remove', {});
    };
    if (await purgeProject(store, id, removeFiles)) return;
    await store.write(
      async (tx) =>
        await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` }),
    );
  },
});
