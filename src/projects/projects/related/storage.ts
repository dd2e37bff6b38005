/** Endpoint of where the repository of a project is stored. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { idOrPath, int, object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { findProject } from '../find.ts';

export const projectStorage = endpoint({
  method: 'GET',
  path: '/projects/:id/storage',
  summary: 'Get the storage and the path of the repository of a project (administrators)',
  area: 'projects',
  audience: 'admin',
  params: object({ id: idOrPath('id or full path of the project') }),
  reply: object({ project_id: int, disk_path: string, created_at: timestamp, repository_storage: string }),
  handle: async (call, params) => {
    const { id, repository_path, created_at, repository_storage } = await findProject(call, params.id);
    return {
      project_id: id,
      // As in GitLab, without the ending.
      disk_path: (repository_path ?? '').replace(/\.git$/, ''),
      created_at: formatTime(created_at),
      repository_storage,
    };
  },
});
