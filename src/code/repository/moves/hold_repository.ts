/** Refuses changes of a repository while it moves to another storage, and changes where it was before. */
import type { Tx } from '../../../platform/db/open.ts';
import { Failure } from '../../../platform/errors.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { getRepositoryPath } from '../../../platform/git/storages.ts';

/** Shown to users of the API and of git. */
export const movingText =
  'The repository is being moved to another storage and is read-only meanwhile. Try again in a minute.';

class MovingFailure extends Failure {
  constructor() {
    super('unavailable', { message: movingText }, { 'retry-after': '30' });
  }
}

export const isMovingFailure = (error: unknown): boolean => error instanceof MovingFailure;

/**
 * Keeps a repository in its place until the transaction ends. Comes first in transactions that begin a change of refs.
 * @throws Failure 503 while it moves, or if it is no longer at `location`
 */
export const holdRepository = async ({ db, dialect }: Tx, location: RepositoryLocation): Promise<void> => {
  const row = await db
    .selectFrom('projects')
    .select(['id', 'repository_storage', 'repository_path', 'repository_moving'])
    .where('id', '=', location.id)
    .modifyEnd(dialect.forHold)
    .executeTakeFirst();
  if (row === undefined) return; // the caller finds out that the project is gone
  const isThere =
    row.repository_storage === location.repository_storage &&
    getRepositoryPath(row) === getRepositoryPath(location);
  if (row.repository_moving === 1 || !isThere) throw new MovingFailure();
};
