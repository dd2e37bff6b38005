/** What the service asks of one repository. */
import type { CallOptions, Outcome } from './connection.ts';
import type { Method, Methods, Stream, Streams } from './protocol_types.ts';
import type { GitStream, StreamOptions } from './stream.ts';

/** `repository` and `written` are what a `Repository` knows itself. */
type Own<P> = P extends unknown ? Omit<P, 'repository' | 'written'> : never;

/** The columns of a project that say where its repository lies. */
export type RepositoryPlace = {
  id: number;
  repository_storage: string;
  /** null: of a project of before there were paths of their own; follows from its id. */
  repository_path: string | null;
  /** 1: refs were written to it. */
  repository_written: number;
};

export const placeColumns = [
  'projects.repository_storage',
  'projects.repository_path',
  'projects.repository_written',
] as const;

export type MethodParams<M extends Method> = Own<Methods[M]['params']>;
export type MethodResult<M extends Method> = Methods[M]['result'];

/**
 * Nothing is on disk for it before its first write: until then, it reads as an empty one. After that, calls fail as
 * `unavailable` where it is not there.
 */
export type Repository = {
  /** Below the storage's root; what `source` of a call on another repository of the same storage takes. */
  path: string;
  written: boolean;
  storage: string;
  /** @throws GitFailure */
  ask: <M extends Method>(
    method: M,
    params: MethodParams<M>,
    body?: Uint8Array,
    options?: CallOptions,
  ) => Promise<MethodResult<M>>;
  /** The same, for calls that answer with bytes. */
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

/** How a storage is reached. */
export type Reach = {
  name: string;
  call: (
    method: Method,
    params: object,
    body: Uint8Array | undefined,
    options: CallOptions,
  ) => Promise<Outcome>;
  stream: <N extends Stream>(name: N, params: object, options: StreamOptions) => Promise<GitStream<N>>;
};

export const makeRepository = (reach: Reach, path: string, written: boolean): Repository => {
  const own = { repository: path, ...(written && { written }) };
  return {
    path,
    written,
    storage: reach.name,
    ask: async (method, params, body, options = {}) => {
      const { result } = await reach.call(method, { ...params, ...own }, body, options);
      return result as MethodResult<typeof method>;
    },
    read: async (method, params, options = {}) => {
      const { result, body } = await reach.call(method, { ...params, ...own }, undefined, options);
      return { result: result as MethodResult<typeof method>, body };
    },
    stream: async (name, params, options = {}) => await reach.stream(name, { ...params, ...own }, options),
  };
};
