/** Carries stream data over a socket as Node streams, with backpressure in both directions. */
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { writeData, writeFrame } from './frames.ts';

export type Receiver = {
  readable: Readable;
  push: (data: Buffer) => void;
  end: () => void;
  /** The reader is gone: discard the rest. */
  drop: () => void;
};

/** Bytes from the peer. */
export const makeReceiver = (socket: Socket, onUnread?: () => void): Receiver => {
  let dropped = false;
  let ended = false;
  const readable = new Readable({
    highWaterMark: 256 * 1024,
    read: () => void socket.resume(),
    destroy: (error, done) => {
      dropped = true;
      socket.resume();
      if (!ended) onUnread?.();
      done(error);
    },
  });
  return {
    readable,
    push: (data) => {
      if (!dropped && !readable.push(data)) socket.pause();
    },
    end: () => {
      ended = true;
      if (!dropped) readable.push(null);
    },
    drop: () => {
      dropped = true;
      socket.resume();
    },
  };
};

/** Bytes to the peer; `end()` announces the end. */
export const makeSender = (socket: Socket, onBroken?: () => void): Writable => {
  let ended = false;
  const writable = new Writable({
    highWaterMark: 256 * 1024,
    write: (chunk: Buffer, _encoding, done) => {
      if (!socket.writable) return done(new Error('the connection is closed'));
      if (writeData(socket, chunk)) return done();
      waiting = done;
    },
    final: (done) => {
      ended = true;
      if (socket.writable) writeFrame(socket, { end: true });
      done();
    },
    destroy: (error, done) => {
      if (!ended) onBroken?.();
      done(error);
    },
  });
  let waiting: ((error?: Error) => void) | null = null;
  const goOn = (error?: Error): void => {
    const done = waiting;
    waiting = null;
    done?.(error);
  };
  socket.on('drain', () => goOn());
  socket.on('close', () => {
    // A destroyed connection never calls back for the last write.
    if (waiting !== null) goOn(socket.writableFinished ? undefined : new Error('the connection was closed'));
    if (!ended) writable.destroy();
  });
  return writable;
};
