/** What a server is made of, and what it gives to each handler. */
import type { Context, MethodHandlers, Storage, StreamHandlers } from '../context.ts';
import { dirOf } from '../storage/layout.ts';
import type { Drain } from './drain.ts';

export type ServerParts = {
  storage: Storage;
  secret: string;
  methods: MethodHandlers;
  streams: StreamHandlers;
  drain: Drain;
};

/** @throws GitError `invalid` for a path that is no repository's */
export const contextOf = (storage: Storage, params: unknown, signal: AbortSignal): Context => {
  const { repository } = (params ?? {}) as { repository?: unknown };
  const dir = repository === undefined ? '' : dirOf(storage.root, repository);
  return { ...storage, dir, signal };
};
