/** Refuses changes to a repository while it is moved or imported, or at a location it has left. */
import type { Tx } from '../../../platform/db/open.ts';
import { Failure } from '../../../platform/errors.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { getRepositoryPath } from '../../../platform/git/storages.ts';
import { isBeingImported } from '../../../projects/projects/imports/schedule_import.ts';

/** The repository takes no changes at the moment. The text is for users of the API and of git. */
export class ReadOnlyFailure extends Failure {
  readonly text: string;

  constructor(text: string) {
    super('unavailable', { message: text }, { 'retry-after': '30' });
    this.text = text;
  }
}

export const movingText =
  'The repository is being moved to another storage and is read-only meanwhile. Try again in a minute.';
const importingText = 'The repository is being imported and is read-only meanwhile.';

/**
 * Prevents moves of a repository until the transaction ends.
 * @returns its project; undefined if the project is gone; the caller handles that
 * @throws Failure 503 while it moves, or if it is no longer at `location`
 */
export const keepInPlace = async ({ db, dialect }: Tx, location: RepositoryLocation) => {
  const row = await db
    .selectFrom('projects')
    .select([
      'id',
      'repository_storage',
      'repository_path',
      'repository_moving',
      'import_status',
      'deleted_at',
    ])
    .where('id', '=', location.id)
    .modifyEnd(dialect.forHold)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const isThere =
    row.repository_storage === location.repository_storage &&
    getRepositoryPath(row) === getRepositoryPath(location);
  if (row.repository_moving === 1 || !isThere) throw new ReadOnlyFailure(movingText);
  return row;
};

/**
 * Prevents moves and imports of a repository until the transaction ends. Must come first in transactions that start a
 * change of refs.
 * @throws Failure 503 while it is moved or imported, or if it is no longer at `location`
 */
export const holdRepository = async (tx: Tx, location: RepositoryLocation): Promise<void> => {
  const row = await keepInPlace(tx, location);
  if (row !== undefined && isBeingImported(row)) throw new ReadOnlyFailure(importingText);
};
