/** What every handler of a method or a stream receives. */
import type { Readable, Writable } from 'node:stream';
import type { Exec } from './exec/spawn.ts';
import type { Pools } from './pool/pools.ts';
import type {
  AnswerPush,
  AnswerTold,
  AskPush,
  Method,
  Methods,
  Stream,
  Streams,
  TellPush,
} from './protocol.ts';

/** What the program is made of. */
export type Storage = {
  /** Absolute path of the folder that holds all repositories. */
  root: string;
  /** Starts git. */
  exec: Exec;
  /** Long-lived git processes. */
  pools: Pools;
  /** The instance that it belongs to, once that was read. */
  owner: { instance: string | null };
  /** A line for whoever runs the service. */
  log: (message: string, details?: object) => void;
};

export type Context = Storage & {
  /** Absolute path of the call's repository, which need not exist; '' for a call that names none. */
  dir: string;
  /** Whether the service knows that refs were written to it: then it must be there. */
  written: boolean;
  /** Aborted when the caller has gone, or has waited long enough. */
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
  /** What the service sends; ends when it has sent all. */
  input: Readable;
  /** To the service. Slow readers are felt here: respect its back-pressure (`pipeline`). */
  output: Writable;
  ask: (question: AskPush) => Promise<AnswerPush>;
  tell: (news: TellPush) => Promise<AnswerTold>;
};

export type StreamHandler<N extends Stream> = (
  params: Streams[N]['params'],
  context: Context,
  io: StreamIo,
) => Promise<Streams[N]['result']>;

export type StreamHandlers = { [N in Stream]?: StreamHandler<N> };
