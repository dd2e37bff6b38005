import type { Platform } from '../../../core/platform.ts';
import { getProjectArea } from '../../../platform/blob/blob_files.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { type WorkHandler, enqueue } from '../../../platform/queue/enqueue.ts';
import { purgeProject } from './purge.ts';

export const projectWork = ({ store, blobs, traces, git }: Platform): { [name: string]: WorkHandler } => ({
  /** Deletes the rows of a removed project, a large one in several runs. */
  purge_project: async ({ project_id }) => {
    const id = Number(project_id);
    const removeFiles = async (location: RepositoryLocation): Promise<void> => {
      await blobs.removeArea(getProjectArea(id));
      await traces.removeProject(id);
      await git.repository(location).ask('repository.remove', {});
    };
    if (await purgeProject(store, id, removeFiles)) return;
    await store.write(
      async (tx) =>
        await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` }),
    );
  },
});
