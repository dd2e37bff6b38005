/** Builds the context of a call for its handler. */
import type { Socket } from 'node:net';
import type { Context, MethodHandlers, Storage, StreamHandlers } from '../handler_types.ts';
import { classifyError, isGitError, noRepository, repositoryLost } from '../git_error.ts';
import { repositoryExists, resolveRepositoryPath } from '../disk/storage_paths.ts';
import type { Drain } from './count_active_calls.ts';
import { shareSlots } from './share_slots.ts';

export type ServerParts = {
  storage: Storage;
  secret: string;
  methods: MethodHandlers;
  streams: StreamHandlers;
  drain: Drain;
  /** Connections on which services send calls. */
  callers: Set<Socket>;
  /** The storage accepts no further connections. */
  isStopping: () => boolean;
};

const isWritten = (params: unknown): boolean =>
  (params as { written?: unknown } | null | undefined)?.written === true;

/**
 * Builds the context of a call. Resolves `repository`, if there is one, to an absolute path below the storage's root.
 * @param call name of the method or stream, and its parameters
 * @throws GitError `invalid` for a path that the service does not create
 */
export const makeContext = (
  storage: Storage,
  call: { name: unknown; params: unknown },
  signal: AbortSignal,
): Context => {
  const { name, params } = call;
  const { repository } = (params ?? {}) as { repository?: unknown };
  const dir = repository === undefined ? '' : resolveRepositoryPath(storage.root, repository);
  const exec = shareSlots(storage.exec, name, params);
  return { ...storage, exec, dir, written: isWritten(params), signal };
};

/** Turns an unexpected error into "no repository" if the repository was removed while git read it. */
const asRemoved = async (error: unknown, storage: Storage, params: unknown): Promise<unknown> => {
  const { repository } = (params ?? {}) as { repository?: unknown };
  if (repository === undefined || classifyError(error) !== 'internal') return error;
  return (await repositoryExists(resolveRepositoryPath(storage.root, repository))) ? error : noRepository();
};

/**
 * Returns the error for a missing repository: "no repository", or "unavailable" if it was written to before, because it
 * or its storage is lost.
 */
export const asGone = async (caught: unknown, storage: Storage, params: unknown): Promise<unknown> => {
  const error = await asRemoved(caught, storage, params);
  return isWritten(params) && isGitError(error, 'no_repository') ? repositoryLost() : error;
};
