/** Where the repository of a project is stored: the endpoint, and the parameter that names the storage. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { invalid } from '../../../platform/errors.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { idOrPath, int, object, optional, string, text, timestamp } from '../../../platform/http/schema.ts';
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

export const storageParam = {
  repository_storage: optional(text({ description: 'a configured storage; only administrators choose it' })),
};

export type StorageParams = { repository_storage?: string };

/**
 * Reads the storage that an administrator names; undefined: none, or the caller is no administrator.
 * @throws Failure 400 if it is not configured
 */
export const readStorage = (
  { admin, platform }: Call,
  { repository_storage: name = '' }: StorageParams,
): string | undefined => {
  if (!admin || name === '') return undefined;
  if (platform.config.repository_storages.every((one) => one.name !== name))
    throw invalid({ repository_storage: ['is not included in the list'] });
  return name;
};

/** Schedules the move of a project's repository to another storage. */
export type MoveRepository = (
  call: Call,
  tx: Tx,
  project: RepositoryLocation,
  storage: string,
) => Promise<void>;
