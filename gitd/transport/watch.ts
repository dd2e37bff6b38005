/** Ends what does not go on. */
import { Transform } from 'node:stream';
import { GitError } from '../failure.ts';

export type Watch = {
  /** Aborted with the caller's, and when nothing has moved for too long. */
  signal: AbortSignal;
  /** Something has moved. */
  touch: () => void;
  /** Hands bytes on, and notes that they move. */
  through: () => Transform;
  /** Aborts. */
  stop: (why: GitError) => void;
  end: () => void;
};

/** Seconds without a byte. While git works it sends something every five. */
const longestSilence = 120;

/** @param outer null: only `stop` and silence end it */
export const watch = (outer: AbortSignal | null, seconds = longestSilence): Watch => {
  const control = new AbortController();
  const late = (): void => control.abort(new GitError('limit', `nothing has moved for ${seconds} s`));
  const timer = setTimeout(late, seconds * 1000);
  const onAbort = (): void => control.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted === true) onAbort();
  const touch = (): void => void timer.refresh();
  return {
    signal: control.signal,
    touch,
    through: () =>
      new Transform({
        readableHighWaterMark: 256 * 1024,
        writableHighWaterMark: 256 * 1024,
        transform: (chunk: Buffer, _encoding, done) => {
          touch();
          done(null, chunk);
        },
      }),
    stop: (why) => control.abort(why),
    end: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
};
