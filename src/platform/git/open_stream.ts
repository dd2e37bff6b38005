/** The service's end of a stream: bytes in both directions, answers to questions, and one result. */
import type { Readable, Writable } from 'node:stream';
import { type Frame, writeFrame } from '../../../gitd/rpc/frames.ts';
import { makeReceiver, makeSender } from '../../../gitd/rpc/socket_streams.ts';
import { withoutRestartWait } from './await_restart.ts';
import type { Line } from './dial.ts';
import { toGitFailure, storageUnavailable } from './failure.ts';
import type { SpareConnection } from './spare_connection.ts';
import type {
  PushAnswer,
  PushNoticeAnswer,
  PushQuestion,
  Stream,
  Streams,
  PushNotice,
} from './protocol_types.ts';

export type StreamOptions = {
  signal?: AbortSignal | undefined;
  onAsk?: ((question: PushQuestion) => Promise<PushAnswer>) | undefined;
  onNotify?: ((news: PushNotice) => Promise<PushNoticeAnswer>) | undefined;
};

/**
 * A stream. `readable` ends and `result` settles when the storage is done; both fail with a `GitFailure`. Destroying
 * either end cancels the work in the storage.
 */
export type GitStream<N extends Stream> = {
  /** Output of git. */
  readable: Readable;
  /** Input of git. Call `end()` even if there is no input. */
  writable: Writable;
  result: Promise<Streams[N]['result']>;
  /** Cancels the stream. */
  destroy: () => void;
};

const answer = async ({ socket }: Line, { header }: Frame, options: StreamOptions): Promise<void> => {
  const { ask, question } = header as { ask: number; question: PushQuestion | PushNotice };
  try {
    const value = await withoutRestartWait(async () =>
      'ask' in question
        ? await options.onAsk?.(question)
        : ((await options.onNotify?.(question)) ?? { messages: [] }),
    );
    if (value === undefined) throw new Error('this stream answers no questions');
    if (socket.writable) writeFrame(socket, { answer: ask, value });
  } catch (error) {
    if (socket.writable) writeFrame(socket, { answer: ask, failed: (error as Error).message });
  }
};

/**
 * Opens a stream.
 * @throws GitFailure `unavailable`
 */
export const openStream = async <N extends Stream>(
  spare: SpareConnection,
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
  result.promise.catch(() => undefined); // `readable` reports it, too
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
    if (header['error'] !== undefined) return fail(toGitFailure(header['error']));
    done = true;
    receiver.end();
    result.resolve(header['result'] as Streams[N]['result']);
    // Drop pending input, which nobody reads any more.
    writable.destroy();
  };
  const onAbort = (): void => fail(options.signal?.reason as Error);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  socket.on('close', () => {
    options.signal?.removeEventListener('abort', onAbort);
    fail(storageUnavailable('the connection to the repository storage was lost'));
  });
  writable.on('error', () => undefined);
  receiver.readable.on('error', () => undefined);
  writeFrame(socket, { stream: name, params });
  return { readable: receiver.readable, writable, result: result.promise, destroy: leave };
};
