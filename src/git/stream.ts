/** The service's end of a stream: bytes both ways, answers to questions, and one result. */
import type { Readable, Writable } from 'node:stream';
import { type Frame, writeFrame } from '../../gitd/rpc/frames.ts';
import { makeReceiver, makeSender } from '../../gitd/rpc/pipe.ts';
import type { Line } from './dial.ts';
import { failureOf, gone } from './failure.ts';
import type { SpareLine } from './spare_line.ts';
import type { AnswerPush, AnswerTold, AskPush, Stream, Streams, TellPush } from './protocol_types.ts';

export type StreamOptions = {
  signal?: AbortSignal | undefined;
  onAsk?: ((question: AskPush) => Promise<AnswerPush>) | undefined;
  onTell?: ((news: TellPush) => Promise<AnswerTold>) | undefined;
};

/**
 * `readable` ends and `result` settles when the storage is done; both fail with a `GitFailure`. Whoever destroys
 * one of the two ends leaves: the work on the other side is stopped.
 */
export type GitStream<N extends Stream> = {
  /** From git. */
  readable: Readable;
  /** To git; `end()` it, even where nothing is to be sent. */
  writable: Writable;
  result: Promise<Streams[N]['result']>;
  /** Leaves. */
  destroy: () => void;
};

const answer = async ({ socket }: Line, { header }: Frame, options: StreamOptions): Promise<void> => {
  const { ask, question } = header as { ask: number; question: AskPush | TellPush };
  try {
    const value =
      'ask' in question
        ? await options.onAsk?.(question)
        : ((await options.onTell?.(question)) ?? { messages: [] });
    if (value === undefined) throw new Error('nobody answers questions here');
    if (socket.writable) writeFrame(socket, { answer: ask, value });
  } catch (error) {
    if (socket.writable) writeFrame(socket, { answer: ask, failed: (error as Error).message });
  }
};

/** @throws GitFailure `unavailable` */
export const openStream = async <N extends Stream>(
  spare: SpareLine,
  name: N,
  params: object,
  options: StreamOptions,
): Promise<GitStream<N>> => {
  options.signal?.throwIfAborted();
  const line = await spare.take();
  const { socket } = line;
  const leave = (): void => void socket.destroy();
  const receiver = makeReceiver(socket, leave);
  const writable = makeSender(socket, leave);
  const result = Promise.withResolvers<Streams[N]['result']>();
  result.promise.catch(() => undefined); // told by `readable`, too
  let done = false;
  const fail = (error: Error): void => {
    if (done) return;
    done = true;
    result.reject(error);
    receiver.readable.destroy(error);
    writable.destroy();
    leave();
  };
  line.onData = receiver.push;
  line.onFrame = (frame) => {
    const { header } = frame;
    if (header['ask'] !== undefined) return void answer(line, frame, options);
    if (header['end'] === true) return receiver.end();
    if (header['error'] !== undefined) return fail(failureOf(header['error']));
    done = true;
    receiver.end();
    result.resolve(header['result'] as Streams[N]['result']);
    // What is still to be sent, nobody reads any more.
    writable.destroy();
  };
  const onAbort = (): void => fail(options.signal?.reason as Error);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  socket.on('close', () => {
    options.signal?.removeEventListener('abort', onAbort);
    fail(gone('the repository storage went away'));
  });
  writable.on('error', () => undefined);
  receiver.readable.on('error', () => undefined);
  writeFrame(socket, { stream: name, params });
  return { readable: receiver.readable, writable, result: result.promise, destroy: leave };
};
