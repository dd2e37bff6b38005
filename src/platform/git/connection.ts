/** Concurrent calls over one connection to a repository storage, each with a deadline. */
import { type Frame, writeFrame } from '../../../gitd/rpc/frames.ts';
import { type Line, type GitdAddress, dial } from './dial.ts';
import { GitFailure, toGitFailure, storageUnavailable } from './failure.ts';

export type Outcome = { result: unknown; body: Buffer };

export type CallOptions = {
  signal?: AbortSignal | undefined;
  /** Deadline of the call in seconds; 60 by default. */
  seconds?: number | undefined;
};

export type Connection = {
  call: (
    method: string,
    params: object,
    body: Uint8Array | undefined,
    options: CallOptions,
  ) => Promise<Outcome>;
  /** False, too, once the storage has announced that it stops: the connection takes no further calls. */
  isOpen: () => boolean;
  close: () => void;
};

type Waiting = { resolve: (outcome: Outcome) => void; reject: (error: Error) => void };

const usualSeconds = 60;
/** Milliseconds that the storage has, past the deadline, to report a timeout itself. */
const grace = 500;

const answered = (waiting: Map<number, Waiting>, { header, body }: Frame): void => {
  const { id, error, result } = header as { id: number; error?: unknown; result: unknown };
  const call = waiting.get(id);
  if (error === undefined) call?.resolve({ result, body });
  else call?.reject(toGitFailure(error));
};

/**
 * Connects to a storage.
 * @throws GitFailure `unavailable`
 */
export const openConnection = async (address: GitdAddress): Promise<Connection> => {
  const line: Line = await dial(address);
  const { socket } = line;
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let isLeaving = false;
  const isOpen = (): boolean => !isLeaving && !socket.destroyed;
  socket.on('close', () => {
    for (const call of waiting.values())
      call.reject(storageUnavailable('the connection to the repository storage was lost'));
  });
  // Nothing is in progress, so the connection must not keep the process alive.
  const referWhileWaiting = (): void => {
    if (socket.destroyed) return;
    if (waiting.size > 0) return void socket.ref();
    socket.unref();
    if (isLeaving) socket.end();
  };
  referWhileWaiting();
  line.onFrame = (frame) => {
    if (frame.header['stopping'] !== true) return answered(waiting, frame);
    isLeaving = true; // calls in progress are still answered
    address.onStopping?.();
    referWhileWaiting();
  };

  const call: Connection['call'] = async (method, params, body, { signal, seconds = usualSeconds }) => {
    signal?.throwIfAborted();
    if (!isOpen()) throw storageUnavailable('the connection to the repository storage was lost');
    last += 1;
    const id = last;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    waiting.set(id, { resolve, reject });
    referWhileWaiting();
    const giveUp = (why: Error): void => {
      if (socket.writable) writeFrame(socket, { cancel: id });
      reject(why);
    };
    const tooLong = (): void => giveUp(new GitFailure('limit', `${method} took longer than ${seconds} s`));
    const timer = setTimeout(tooLong, seconds * 1000 + grace);
    const onAbort = (): void => giveUp(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    writeFrame(socket, { id, method, params, patience: seconds * 1000 }, body);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      waiting.delete(id);
      referWhileWaiting();
    }
  };
  return { call, isOpen, close: () => socket.destroy() };
};
