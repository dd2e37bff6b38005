/** Serves one stream: bytes both ways, questions, and one result. */
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Context, StreamHandler, StreamIo } from '../handler_types.ts';
import { GitError, classifyError, getMessage } from '../git_error.ts';
import type { Stream } from '../protocol.ts';
import { requireInstance } from '../storage/claim_storage.ts';
import { type Frame, writeFrame } from './frames.ts';
import type { Peer } from './handshake.ts';
import { makeReceiver, makeSender } from './socket_streams.ts';
import { type ServerParts, asGone, makeContext } from './call_context.ts';

type PendingQuestions = Map<number, PromiseWithResolvers<never>>;

const makeAsk = (socket: Socket, pending: PendingQuestions, signal: AbortSignal) => {
  let last = 0;
  return async (question: object): Promise<never> => {
    signal.throwIfAborted();
    last += 1;
    const answer = Promise.withResolvers<never>();
    pending.set(last, answer);
    writeFrame(socket, { ask: last, question });
    return await answer.promise;
  };
};

const settle = (pending: PendingQuestions, { header }: Frame): void => {
  const id = header['answer'] as number;
  const open = pending.get(id);
  pending.delete(id);
  const failed = header['failed'] as string | undefined;
  if (failed === undefined) open?.resolve(header['value'] as never);
  else open?.reject(new GitError('unavailable', `the service could not answer: ${failed}`));
};

const finish = (socket: Socket, header: object): void => {
  if (!socket.writable) return;
  writeFrame(socket, header);
  socket.end();
};

/**
 * Resolves when the socket has everything that was written to the output, and its end: the result must not overtake
 * them. Also if the output fails.
 */
const untilWritten = async (output: Writable): Promise<void> => {
  if (output.destroyed || output.writableFinished) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (output.writableEnded) output.once('finish', resolve).once('close', resolve);
  else if (output.writableLength === 0) return;
  else output.write(Buffer.alloc(0), () => resolve());
  await promise;
};

export const answerStream = (parts: ServerParts, socket: Socket, peer: Peer, first: Frame): void => {
  const { stream: name, params } = first.header;
  const control = new AbortController();
  const pending: PendingQuestions = new Map();
  const receiver = makeReceiver(socket);
  const output = makeSender(socket);
  let done = false;
  peer.onData = receiver.push;
  peer.onFrame = (frame) => {
    if (frame.header['end'] === true) receiver.end();
    else settle(pending, frame);
  };
  const leave = (): void => {
    if (done) return;
    const gone = new GitError('unavailable', 'the caller has gone');
    control.abort(gone);
    receiver.readable.destroy(gone);
    output.destroy(gone);
    for (const open of pending.values()) open.reject(gone);
  };
  // A client that has sent everything may stay connected: only a lost connection means that it is gone.
  socket.on('close', leave);
  receiver.readable.on('error', () => undefined);
  output.on('error', () => undefined);

  const ask = makeAsk(socket, pending, control.signal);
  const io: StreamIo = { input: receiver.readable, output, ask, notify: ask };
  const run = async (): Promise<void> => {
    try {
      const handler = findHandler(parts, name);
      await requireInstance(parts.storage, peer.instance);
      const context: Context = makeContext(parts.storage, { name, params }, control.signal);
      const result = await handler(params as Parameters<typeof handler>[0], context, io);
      await untilWritten(output);
      done = true;
      finish(socket, { result });
    } catch (caught) {
      done = true;
      const error = await asGone(caught, parts.storage, params);
      const kind = classifyError(error);
      if (kind === 'internal')
        parts.storage.log('a stream failed', { name, error: String((error as Error).stack) });
      finish(socket, { error: { kind, message: getMessage(error) } });
    } finally {
      receiver.drop();
    }
  };
  void run();
};

const findHandler = ({ streams }: ServerParts, name: unknown): StreamHandler<Stream> => {
  const isKnown = typeof name === 'string' && Object.hasOwn(streams, name);
  if (!isKnown) throw new GitError('invalid', `unknown stream ${String(name)}`);
  return streams[name as Stream] as StreamHandler<Stream>;
};
