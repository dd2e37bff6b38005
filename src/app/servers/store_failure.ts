/** Maps errors of the database, the repository storages and the system to the failures that clients see. */
import type { Store } from '../../platform/db/open.ts';
import { type Failure, conflict, isSystemOutage, notFound, unavailable } from '../../platform/errors.ts';
import { type GitFailure, isGitFailure } from '../../platform/git/failure.ts';
import { tooLarge, unreadable } from '../../platform/http/failure.ts';

/** Returns the response to a failure of a repository storage; null: an internal error. */
const gitFailure = ({ kind }: GitFailure): Failure | null => {
  if (kind === 'unavailable' || kind === 'limit') return unavailable();
  if (kind === 'too_large') return tooLarge('the content of the repository exceeds a limit');
  if (kind === 'conflict') return conflict('409 Conflict');
  if (kind === 'invalid') return unreadable();
  // A repository that is gone was removed since the project was found.
  return kind === 'missing' || kind === 'no_repository' ? notFound() : null;
};

/** Returns a function that maps an error; null: an internal error. */
export const storeFailure = (store: Store) => {
  return (error: unknown): Failure | null => {
    const mayRetry =
      store.isStoreFull(error) ||
      store.isUnreachable(error) ||
      store.isConflict(error) ||
      isSystemOutage(error);
    if (mayRetry) return unavailable();
    if (isGitFailure(error)) return gitFailure(error);
    // Another request took the name or removed the record between the check and the write.
    const lostRace = store.isUniqueViolation(error) || store.isForeignKeyViolation(error);
    return lostRace ? conflict('409 Conflict') : null;
  };
};
