/** Types of the handlers of methods and streams, and of what they receive. */
import type { Readable, Writable } from 'node:stream';
import type { Exec } from './exec/spawn.ts';
import type { Pools } from './pool/pools.ts';
import type {
  PushAnswer,
  PushNoticeAnswer,
  PushQuestion,
  Method,
  Methods,
  Stream,
  Streams,
  PushNotice,
} from './protocol.ts';

/** The storage that this process serves. */
export type Storage = {
  /** Absolute path of the folder that holds all repositories. */
  root: string;
  /** Starts git. */
  exec: Exec;
  /** Long-lived git processes. */
  pools: Pools;
  /** Instance that owns the storage; null until its marker was read, which fills it in. */
  owner: { instance: string | null };
  /** Writes a log line. */
  log: (message: string, details?: object) => void;
};

export type Context = Storage & {
  /** Absolute path of the call's repository, which need not exist; '' for a call that names none. */
  dir: string;
  /** True if refs were written to the repository before, so that it must exist. */
  written: boolean;
  /** Aborted when the caller disconnects or the call times out. */
  signal: AbortSignal;
};

export type Answer<M extends Method> = { result: Methods[M]['result']; body?: Uint8Array };

export type MethodHandler<M extends Method> = (
  params: Methods[M]['params'],
  context: Context,
  body: Buffer,
) => Promise<Answer<M>>;

export type MethodHandlers = { [M in Method]?: MethodHandler<M> };

export type StreamIo = {
  /** Bytes from the service; ends when it has sent all. */
  input: Readable;
  /** Bytes to the service. Respect its backpressure (use `pipeline`). */
  output: Writable;
  ask: (question: PushQuestion) => Promise<PushAnswer>;
  notify: (notice: PushNotice) => Promise<PushNoticeAnswer>;
};

export type StreamHandler<N extends Stream> = (
  params: Streams[N]['params'],
  context: Context,
  io: StreamIo,
) => Promise<Streams[N]['result']>;

export type StreamHandlers = { [N in Stream]?: StreamHandler<N> };
