import type { Platform } from '../access/call.ts';
import type { Repository } from '../git/repository.ts';

/** The project's repository, on the storage that it was given. One that was never written reads as empty. */
export const repositoryOf = (
  { git }: Pick<Platform, 'git'>,
  project: { id: number; repository_storage: string },
): Repository => git.repository({ storage: project.repository_storage, id: project.id });
