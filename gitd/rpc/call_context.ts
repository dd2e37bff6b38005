/** Builds the context of a call for its handler. */
import type { Context, MethodHandlers, Storage, StreamHandlers } from '../handler_types.ts';
import { isGitError, repositoryLost } from '../git_error.ts';
import { resolveRepositoryPath } from '../disk/storage_paths.ts';
import type { Drain } from './count_active_calls.ts';

export type ServerParts = {
  storage: Storage;
  secret: string;
  methods: MethodHandlers;
  streams: StreamHandlers;
  drain: Drain;
};

const isWritten = (params: unknown): boolean =>
  (params as { written?: unknown } | null | undefined)?.written === true;

/**
 * Builds the context of a call. Resolves `repository`, if there is one, to an absolute path below the storage's root.
 * @throws GitError `invalid` for a path that the service does not create
 */
export const makeContext = (storage: Storage, params: unknown, signal: AbortSignal): Context => {
  const { repository } = (params ?? {}) as { repository?: unknown };
  const dir = repository === undefined ? '' : resolveRepositoryPath(storage.root, repository);
  return { ...storage, dir, written: isWritten(params), signal };
};

/**
 * Turns "no repository" into "unavailable" if the repository was written to before: it is lost, or its storage is.
 */
export const asLost = (error: unknown, params: unknown): unknown =>
  isWritten(params) && isGitError(error, 'no_repository') ? repositoryLost() : error;
