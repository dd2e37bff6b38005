/** Holds back git's report of a push: git reports refs as moved before they are durable. */
import { Transform } from 'node:stream';
import { GitError } from '../git_error.ts';

export type ReportHold = {
  stream: Transform;
  hold: () => void;
  release: () => void;
};

const maxHeldBytes = 64 * 2 ** 20;

/**
 * Makes a transform that holds its input until it is released.
 * @param settle called when git has ended while the report is held; a rejection fails the stream
 */
export const makeReportHold = (settle: () => Promise<void>): ReportHold => {
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
      done(size > maxHeldBytes ? new GitError('too_large', 'the report of git is too long') : null);
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
