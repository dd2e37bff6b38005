/** Keeps what git answers until it may be told: it says that refs have moved before they are durable. */
import { Transform } from 'node:stream';
import { GitError } from '../failure.ts';

export type Gate = {
  stream: Transform;
  hold: () => void;
  release: () => void;
};

const mostHeld = 64 * 2 ** 20;

/** @param settle called when git has said all while the gate is closed; what it rejects with fails the stream */
export const makeGate = (settle: () => Promise<void>): Gate => {
  let held: Buffer[] | null = null;
  let size = 0;
  const release = (): void => {
    const chunks = held ?? [];
    held = null;
    for (const chunk of chunks) stream.push(chunk);
  };
  const stream = new Transform({
    readableHighWaterMark: 256 * 1024,
    transform: (chunk: Buffer, _encoding, done) => {
      if (held === null) return done(null, chunk);
      size += chunk.length;
      held.push(chunk);
      done(size > mostHeld ? new GitError('too_large', 'git says too much') : null);
    },
    flush: (done) => {
      if (held === null) return done();
      settle().then(() => {
        release();
        done();
      }, done);
    },
  });
  return {
    stream,
    hold: () => void (held ??= []),
    release,
  };
};
