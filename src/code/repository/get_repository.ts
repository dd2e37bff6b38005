import type { Platform } from '../../core/platform.ts';
import type { Repository, RepositoryLocation } from '../../platform/git/repository.ts';

/** Returns the project's repository on its storage. A repository that was never written reads as empty. */
export const getRepository = ({ git }: Pick<Platform, 'git'>, location: RepositoryLocation): Repository =>
  git.repository(location);
