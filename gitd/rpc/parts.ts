/** What a server is made of, and what it gives to each handler. */
import type { Context, MethodHandlers, Storage, StreamHandlers } from '../context.ts';
import { isGitError, lost } from '../failure.ts';
import { dirOf } from '../storage/layout.ts';
import type { Drain } from './drain.ts';

export type ServerParts = {
  storage: Storage;
  secret: string;
  methods: MethodHandlers;
  streams: StreamHandlers;
  drain: Drain;
};

const isWritten = (params: unknown): boolean =>
  (params as { written?: unknown } | null | undefined)?.written === true;

/** @throws GitError `invalid` for a path that is no repository's */
export const contextOf = (storage: Storage, params: unknown, signal: AbortSignal): Context => {
  const { repository } = (params ?? {}) as { repository?: unknown };
  const dir = repository === undefined ? '' : dirOf(storage.root, repository);
  return { ...storage, dir, written: isWritten(params), signal };
};

/** A repository that was written to and is not there is lost, or its storage is: that is no answer about it. */
export const asLost = (error: unknown, params: unknown): unknown =>
  isWritten(params) && isGitError(error, 'no_repository') ? lost() : error;
