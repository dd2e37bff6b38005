import type { Platform } from '../access/call.ts';
import type { Repository, RepositoryPlace } from '../git/repository.ts';

/** The project's repository, on its storage. One that was never written reads as empty. */
export const repositoryOf = ({ git }: Pick<Platform, 'git'>, place: RepositoryPlace): Repository =>
  git.repository(place);
