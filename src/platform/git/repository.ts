/** Client of one repository. */
import type { CallOptions, Outcome } from './connection.ts';
import type { Method, Methods, Stream, Streams } from './protocol_types.ts';
import type { GitStream, StreamOptions } from './open_stream.ts';

/** Parameters without `repository` and `written`, which a `Repository` adds itself. */
type Own<P> = P extends unknown ? Omit<P, 'repository' | 'written'> : never;

/** Columns of a project that locate its repository. */
export type RepositoryLocation = {
  id: number;
  repository_storage: string;
  /** null: derived from the id, as for projects of earlier versions. */
  repository_path: string | null;
  /** 1: refs were written, so the repository must exist. */
  repository_written: number;
};

export const repositoryColumns = [
  'projects.repository_storage',
  'projects.repository_path',
  'projects.repository_written',
] as const;

export type MethodParams<M extends Method> = Own<Methods[M]['params']>;
export type MethodResult<M extends Method> = Methods[M]['result'];

/**
 * A repository. It is created on disk by its first write and reads as empty before. After that, calls fail as
 * `unavailable` if it is missing.
 */
export type Repository = {
  /** Path below the storage's root. Calls on another repository of the same storage take it as `source`. */
  path: string;
  written: boolean;
  storage: string;
  /**
   * Calls a method.
   * @throws GitFailure
   */
  ask: <M extends Method>(
    method: M,
    params: MethodParams<M>,
    body?: Uint8Array,
    options?: CallOptions,
  ) => Promise<MethodResult<M>>;
  /** Calls a method that returns bytes. */
  read: <M extends Method>(
    method: M,
    params: MethodParams<M>,
    options?: CallOptions,
  ) => Promise<{ result: MethodResult<M>; body: Buffer }>;
  stream: <N extends Stream>(
    name: N,
    params: Own<Streams[N]['params']>,
    options?: StreamOptions,
  ) => Promise<GitStream<N>>;
};

/** Calls the gitd of a storage. */
export type StorageClient = {
  name: string;
  call: (
    method: Method,
    params: object,
    body: Uint8Array | undefined,
    options: CallOptions,
  ) => Promise<Outcome>;
  stream: <N extends Stream>(name: N, params: object, options: StreamOptions) => Promise<GitStream<N>>;
};

export const makeRepository = (client: StorageClient, path: string, written: boolean): Repository => {
  const own = { repository: path, ...(written && { written }) };
  return {
    path,
    written,
    storage: client.name,
    ask: async (method, params, body, options = {}) => {
      const { result } = await client.call(method, { ...params, ...own }, body, options);
      return result as MethodResult<typeof method>;
    },
    read: async (method, params, options = {}) => {
      const { result, body } = await client.call(method, { ...params, ...own }, undefined, options);
      return { result: result as MethodResult<typeof method>, body };
    },
    stream: async (name, params, options = {}) => await client.stream(name, { ...params, ...own }, options),
  };
};
